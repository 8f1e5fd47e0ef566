// Asks a proxy with the `streamProxy` of a real release: one line of JSON for each case comes in, and one goes out.
//
//   node proxy.mjs FOLDER < cases > answers
//
// FOLDER holds the release in its node_modules. A case is {url, token, model, context, options?, abortAt?}. The answer has
// the events as they were at the moment of their push; the abort is raised at the push of event number `abortAt`, at -1
// before everything.
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const core = resolve(process.argv[2], "node_modules/@earendil-works/pi-agent-core/dist/proxy.js");
const { streamProxy } = await import(pathToFileURL(core));
console.warn = () => {};

async function answer({ url, token, model, context, options = {}, abortAt }) {
	const controller = new AbortController();
	const events = [];
	if (abortAt === -1) controller.abort();
	const stream = streamProxy(model, context, { ...options, proxyUrl: url, authToken: token, signal: controller.signal });
	const push = stream.push;
	let ended = false; // who reads the stream gets nothing of what is pushed behind its end
	stream.push = (event) => {
		push.call(stream, event);
		if (!ended) events.push(structuredClone(event));
		ended ||= event.type === "done" || event.type === "error";
		if (events.length - 1 === abortAt) controller.abort();
	};
	await stream.result();
	return events;
}

for await (const line of createInterface({ input: process.stdin })) {
	process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
process.exit(0); // whatever connections are kept for later
