// Drives the adapters of a real pi-ai: cases come in as lines of JSON, results go out, many at once.
//
//   node pi_ai.mjs FOLDER
//
// FOLDER holds the release in its node_modules. In: {"run": case, "id": n}, whose base URL is that of the server; and
// {"wait": n, "kind": "hold" | "abort"}: the server has said what it has to say for now. Out: {"waited": n}, when
// everything that can happen has happened (and the signal is raised, where that was asked), and {"id": n, "result": …}.
// What a case and a result are is told in cases.py and results.py.
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const load = (file) => import(pathToFileURL(resolve(process.argv[2], "node_modules/@earendil-works/pi-ai/dist", file)));
const { AssistantMessageEventStream } = await load("utils/event-stream.js");

// So many turns of the event loop are enough for what has arrived in a socket to come out as events.
const TURNS = 20;
const PATIENCE = 30_000;

const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

// An event is what it was when it was pushed: everything in it is shared with what comes later.
const owners = new WeakMap();
let calling;
const push = AssistantMessageEventStream.prototype.push;
AssistantMessageEventStream.prototype.push = function (event) {
	push.call(this, event);
	(owners.get(this) ?? calling)?.(event);
};

class Call {
	events = [];
	holds = [];
	#pushed = 0;
	#last;

	constructor({ context, options = {}, simple, abort, partials, payload, hooks = [] }) {
		Object.assign(this, { context, simple, abort, partials });
		this.controller = new AbortController();
		this.options = { ...options, signal: this.controller.signal };
		for (const hook of hooks) {
			this.options[hook] = (value) => {
				this.events.push(JSON.stringify({ hook, value }));
			};
		}
		if (payload) this.options.onPayload = (body) => ({ ...body, ...payload });
		if (abort === -1) this.controller.abort();
	}

	heard(event) {
		const { partial, message, error, ...told } = event;
		this.#last = JSON.stringify(partial);
		this.events.push(JSON.stringify(this.partials && partial ? { ...told, partial } : told));
		if (this.#pushed++ === this.abort) this.controller.abort();
	}

	hold(kind) {
		if (this.over) return;
		this.holds.push(this.#last === undefined ? { events: this.#pushed } : { events: this.#pushed, partial: JSON.parse(this.#last) });
		if (kind === "abort") this.controller.abort();
	}

	async made(module, model) {
		let message;
		try {
			calling = (event) => this.heard(event);
			const stream = (this.simple ? module.streamSimple : module.stream)(model, this.context, this.options);
			owners.set(stream, calling);
			calling = undefined;
			message = await Promise.race([stream.result(), new Promise((done) => setTimeout(done, PATIENCE, "hang").unref())]);
		} catch (error) {
			calling = undefined;
			return { thrown: error.message, events: [], holds: [] };
		}
		return { events: this.events.map((text) => JSON.parse(text)), holds: this.holds, message };
	}
}

const running = new Map();

async function run(id, { api, model, calls }) {
	const module = await load(`api/${api}.js`);
	const results = [];
	for (const { context, ...call } of calls) {
		const messages = context.messages.map((message) => "$message" in message ? results[message.$message].message : message);
		const current = new Call({ ...call, context: { ...context, messages } });
		running.set(id, current);
		results.push(await current.made(module, model));
		current.over = true;
	}
	running.delete(id);
	tell({ id, result: { calls: results } });
}

async function wait(id, kind) {
	const current = running.get(id);
	for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
	current?.hold(kind);
	tell({ waited: id });
}

process.on("unhandledRejection", (error) => tell({ stray: String(error?.stack ?? error) }));
process.on("uncaughtException", (error) => tell({ stray: String(error?.stack ?? error) }));

// The SDKs complain of what they cannot parse, which is most of what they get here.
console.error = console.warn = () => {};

tell({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
	const message = JSON.parse(line);
	if ("run" in message) run(message.id, message.run);
	else wait(message.wait, message.kind);
}
process.exit(0);
