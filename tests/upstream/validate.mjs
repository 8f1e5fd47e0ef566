// Judges calls with the validation of a real pi-ai: one line of JSON for each call comes in, and one goes out.
//
//   node validate.mjs FOLDER < calls > answers
//
// FOLDER holds the release in its node_modules. A call is {name, parameters, arguments, argumentsError?}, an answer
// {value} with the arguments that the tool would get, or {error} with the text that the model would.
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const place = resolve(process.argv[2], "node_modules/@earendil-works/pi-ai/dist/utils/validation.js");
const { validateToolArguments } = await import(pathToFileURL(place));

function judge({ parameters, ...call }) {
	try {
		return { value: validateToolArguments({ parameters }, call) };
	} catch (error) {
		return { error: error.message };
	}
}

const answers = [];
for await (const line of createInterface({ input: process.stdin })) answers.push(JSON.stringify(judge(JSON.parse(line))));
process.stdout.write(answers.map((answer) => `${answer}\n`).join(""));
