// Calls the built-in tools of a real coding agent: one line of JSON for each call comes in, and one goes out.
//
//   node drive.mjs FOLDER < calls > outcomes
//
// FOLDER holds the release in its node_modules. A call is {tool, args, cwd, abortAt?}: it is aborted when a report holds
// the text abortAt, and before it begins if that is empty. An outcome is the result or {error}, and the reports in
// `updates`. A line without a tool asks what the tools are: [{name, parameters, outputSchema?, constrainedSampling?}].
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const tools = resolve(process.argv[2], "node_modules/@earendil-works/pi-coding-agent/dist/core/tools");
const load = (name) => import(pathToFileURL(resolve(tools, `${name}.js`)));
const makers = {
	read: (await load("read")).createReadTool,
	bash: (await load("bash")).createBashTool,
	edit: (await load("edit")).createEditTool,
	write: (await load("write")).createWriteTool,
};

async function call({ tool: name, args, cwd, abortAt }) {
	const tool = makers[name](cwd);
	const abort = new AbortController();
	const updates = [];
	const hear = (update) => {
		updates.push(update);
		if (abortAt && update.content.some(({ text }) => text.includes(abortAt))) abort.abort();
	};
	if (abortAt === "") abort.abort();
	try {
		const meant = tool.prepareArguments ? tool.prepareArguments(args) : args;
		return { ...(await tool.execute("c", meant, abort.signal, hear)), updates };
	} catch (error) {
		return { error: error.message, updates };
	}
}

function declarations() {
	return Object.values(makers).map((make) => {
		const { name, parameters, outputSchema, constrainedSampling } = make("/");
		return { name, parameters, outputSchema, constrainedSampling };
	});
}

for await (const line of createInterface({ input: process.stdin })) {
	const asked = JSON.parse(line);
	console.log(JSON.stringify(asked.tool ? await call(asked) : declarations()));
}
