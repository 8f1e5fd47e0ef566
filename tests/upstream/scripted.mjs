// Runs scripts on the scripted provider of a real pi-ai: one line of JSON for each case comes in, and one goes out.
//
//   node scripted.mjs FOLDER < cases > answers
//
// FOLDER holds the release in its node_modules. A case is {options, steps, requests}: the provider's options, its steps
// (a message, {made: message} for a function, {raised: text} for one that throws) and what it is asked, one request after
// the other: {context, options?, model?, abortAt?}. The answer has, for each request, the events as they were at the moment
// of their push; the abort is raised at the push of event number `abortAt`, at -1 before everything. Or a case is {grow}: the
// pieces of a tool call's arguments; its answer has the arguments after each piece.
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const load = (file) => import(pathToFileURL(resolve(process.argv[2], "node_modules/@earendil-works/pi-ai/dist", file)));
const { createFauxCore } = await load("providers/faux.js");
const { AssistantMessageEventStream } = await load("utils/event-stream.js");
const { ToolCallArgumentsStream } = await load("utils/streaming-json.js");

let heard = () => {};
const push = AssistantMessageEventStream.prototype.push;
AssistantMessageEventStream.prototype.push = function (event) {
	push.call(this, event);
	heard(structuredClone(event));
};

function step({ made, raised, ...message }) {
	if (raised !== undefined) return () => { throw new Error(raised); };
	if (made !== undefined) return async () => ({ ...made, timestamp: Date.now() });
	return message;
}

async function told(core, { context, options = {}, model = "faux-1", abortAt }) {
	const controller = new AbortController();
	const events = [];
	heard = (event) => {
		events.push(event);
		if (events.length - 1 === abortAt) controller.abort();
	};
	if (abortAt === -1) controller.abort();
	const stream = core.stream({ ...core.models[0], id: model }, context, { ...options, signal: controller.signal });
	await stream.result();
	return events;
}

async function answer({ grow, options, steps, requests }) {
	if (grow !== undefined) {
		const stream = new ToolCallArgumentsStream();
		return grow.map((piece) => structuredClone(stream.append(piece)));
	}
	const core = createFauxCore(options);
	core.setResponses(steps.map(step));
	const answers = [];
	for (const request of requests) answers.push(await told(core, request));
	return { answers, callCount: core.state.callCount, left: core.getPendingResponseCount() };
}

for await (const line of createInterface({ input: process.stdin })) {
	process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
