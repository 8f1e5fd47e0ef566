/*
 * Real Pi: `node pi.mjs FOLDER WORKLOAD MANNER TIMES`.
 *
 * FOLDER holds the packages in its node_modules; WORKLOAD is JSON: deltas, turns, calls, updates, subscribers, piece and
 * itemsARead. The answer is that of the subjects in Python: versions first, then a line for each run. To yield is to
 * wait for a resolved promise; a network read comes from the event loop.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const [folder, workloadText, manner, times] = process.argv.slice(2);
const workload = JSON.parse(workloadText);
const each = manner === "each";

async function load(name) {
  const place = join(folder, "node_modules", "@earendil-works", name);
  const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  return [await import(pathToFileURL(join(place, manifest.main))), manifest.version];
}

const [{ Agent }, version] = await load("pi-agent-core");
const [{ createAssistantMessageEventStream }] = await load("pi-ai");

const macrotask = () => new Promise((resolve) => setImmediate(resolve));
const pause = () => (each ? undefined : macrotask());

function* text(message) {
  yield { type: "start", partial: message };
  const block = { type: "text", text: "" };
  message.content.push(block);
  yield { type: "text_start", contentIndex: 0, partial: message };
  for (let index = 0; index < workload.deltas; index++) {
    block.text += workload.piece;
    yield { type: "text_delta", contentIndex: 0, delta: workload.piece, partial: message };
  }
  yield { type: "text_end", contentIndex: 0, content: block.text, partial: message };
  message.stopReason = "stop";
  yield { type: "done", reason: "stop", message };
}

function* calls(message, turn) {
  yield { type: "start", partial: message };
  for (let index = 0; index < workload.calls; index++) {
    const block = { type: "toolCall", id: `${turn}-${index}`, name: "work", arguments: {} };
    message.content.push(block);
    yield { type: "toolcall_start", contentIndex: index, partial: message };
    block.arguments = { number: index };
    yield { type: "toolcall_delta", contentIndex: index, delta: `{"number":${index}}`, partial: message };
    yield { type: "toolcall_end", contentIndex: index, toolCall: block, partial: message };
  }
  message.stopReason = "toolUse";
  yield { type: "done", reason: "toolUse", message };
}

function blank(model) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    stopReason: "pending",
    timestamp: Date.now(),
  };
}

async function run() {
  let heard = 0;
  let turn = 0;

  function streamFn(model) {
    const stream = createAssistantMessageEventStream();
    const events = turn < workload.turns ? calls(blank(model), turn++) : text(blank(model));
    (async () => {
      let items = 0;
      for (const event of events) {
        if (each) await null;
        else if (++items % workload.itemsARead === 0) await macrotask();
        stream.push(event);
      }
      stream.end();
    })();
    return stream;
  }

  async function execute(_id, _args, _signal, onUpdate) {
    await pause();
    for (let step = 0; step < workload.updates; step++) {
      onUpdate({ content: [{ type: "text", text: "on the way" }], details: { step } });
      if (each) await null;
    }
    return { content: [{ type: "text", text: "done" }], details: {} };
  }

  const parameters = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
  const tool = { name: "work", label: "Work", description: "Works.", parameters, execute };
  const model = { id: "m", name: "m", api: "a", provider: "p", baseUrl: "", reasoning: false, input: ["text"] };
  const agent = new Agent({ initialState: { model, tools: [tool] }, streamFn });
  const listeners = each
    ? [async () => { heard++; await null; }, async () => { await null; }]
    : [() => { heard++; }, () => {}];
  for (const listener of listeners.slice(0, workload.subscribers)) agent.subscribe(listener);
  await agent.prompt("Go on.");
  if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
  return heard;
}

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);

tell({ versions: `Node ${process.versions.node}, pi-agent-core ${version}` });
for (let time = 0; time < Number(times); time++) {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const events = await run();
  const used = process.cpuUsage(cpu);
  tell({ events, seconds: (performance.now() - began) / 1e3, cpu: (used.user + used.system) / 1e6 });
}
