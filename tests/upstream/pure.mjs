// Calls pure functions of a real pi-ai: one line of JSON for each call comes in, and one goes out.
//
//   node pure.mjs FOLDER < calls > answers
//
// FOLDER holds the release in its node_modules. A call is {module, function, arguments}: a module of pi-ai's dist and
// what it exports. An argument {"$": "shortened"} stands for a function that makes ids of tool calls short and plain.
// An answer is {value} or {error}.
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const dist = resolve(process.argv[2], "node_modules/@earendil-works/pi-ai/dist");
const functions = { shortened: (id) => id.replace(/[^a-z0-9]/g, "_").slice(0, 8) };

async function call({ module, function: name, arguments: given }) {
	const exported = await import(pathToFileURL(resolve(dist, module)));
	try {
		return { value: exported[name](...given.map((value) => functions[value?.$] ?? value)) };
	} catch (error) {
		return { error: String(error) };
	}
}

const answers = [];
for await (const line of createInterface({ input: process.stdin })) answers.push(JSON.stringify(await call(JSON.parse(line))));
process.stdout.write(answers.map((answer) => `${answer}\n`).join(""));
