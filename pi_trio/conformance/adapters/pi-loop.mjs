/*
 * Pi's loop alone (`runAgentLoop` and `runAgentLoopContinue`) and what the tester can do to it: there is no
 * agent behind it, so no queues, no state and no failure path. Each run gets a copy of the context and a
 * configuration made for it; what it returns is added to the context's messages.
 *
 * The loop tells its events to one function. That function is here: it calls the tester's listeners in
 * order and awaits each, as Pi's Agent does.
 */
import { copy, Exchange, known, plainOptions } from "./pi-exchange.mjs";
import { checkedCreate, checkedOption } from "./pi-fields.mjs";
import { DriverError, field, RefusedError } from "./pi-protocol.mjs";

const AGENT_ONLY = ["steeringMode", "followUpMode"];

export class LoopConversation {
  #config;
  #context;
  #convertToLlm;
  #hooks;
  #listening = new Set();
  #pi;
  #profile;
  #running = undefined;

  /** `pi` is what was loaded, `say` speaks to the tester. */
  constructor(pi, profile, create, say) {
    const { initialState = {}, tools = [], hooks = [], listeners = [] } = checkedCreate(create);
    if (create.snapshot === true) throw new DriverError("the loop has no state to attach");
    const plain = plainOptions(create, without(profile.options, AGENT_ONLY));
    known(profile.loopHooks, hooks, "hook of the loop");

    this.#pi = pi;
    this.#profile = profile;
    this.#hooks = hooks;
    this.exchange = new Exchange(create, pi.createStream, say);
    // What the loop must be given and the tester leaves out is what Pi's Agent would give it.
    const agent = new pi.Agent({ streamFn: this.exchange.callbacks.hook("streamFn") });
    const { systemPrompt, model = agent.state.model, thinkingLevel = "off", messages = [] } = initialState;
    this.#convertToLlm = agent.convertToLlm;
    this.#config = { ...plain, model, thinkingLevel };
    this.#context = { systemPrompt, messages, tools: this.exchange.callbacks.tools(tools) };
    for (const key of listeners) this.subscribe({ key });
  }

  prompt(command) {
    const input = field(command, "input");
    const messages = typeof input === "string" ? [spoken(input, command.images)] : [input].flat();
    this.#run(command, (...rest) => this.#pi.runAgentLoop(messages, ...rest));
  }

  continue(command) {
    this.#run(command, this.#pi.runAgentLoopContinue);
  }

  abort() {
    this.#running?.abort();
  }

  subscribe(command) {
    this.exchange.subscribe(command, (listener) => {
      this.#listening.add(listener);
      return () => this.#listening.delete(listener);
    });
  }

  setTools(command) {
    this.#context.tools = this.exchange.callbacks.tools(field(command, "tools", "array"));
  }

  setMessages(command) {
    this.#context.messages = field(command, "messages", "array");
  }

  setOption(command) {
    const name = field(command, "name", "string");
    known(without(this.#profile.settable, AGENT_ONLY), [name], "settable option of the loop");
    const value = checkedOption(name, field(command, "value"));
    const owner = name === "systemPrompt" ? this.#context : this.#config;
    owner[name] = value;
  }

  messages() {
    return copy(this.#context.messages);
  }

  /** Starts a run on the context as it is now, and adds what it returns to the context as it is then. */
  #run(command, start) {
    const op = field(command, "op", "string");
    if (this.#running !== undefined) {
      throw new RefusedError("a run is going on, and the loop has no queue for another one");
    }
    const running = new AbortController();
    const { signal } = running;
    const emit = async (event) => {
      for (const listener of this.#listening) await listener(event, signal);
    };
    // A continued run would append to the very list that it is given.
    const context = { ...this.#context, messages: [...this.#context.messages] };
    const streamFn = this.exchange.callbacks.hook("streamFn");
    this.#running = running;
    this.exchange.follow(op, async () => {
      try {
        const added = await start(context, this.#configFor(signal), emit, signal, streamFn);
        this.#context.messages = [...this.#context.messages, ...added];
      } finally {
        this.#running = undefined;
      }
    });
  }

  #configFor(signal) {
    const { thinkingLevel, ...config } = this.#config;
    const { callbacks } = this.exchange;
    return {
      ...config,
      reasoning: thinkingLevel === "off" ? undefined : thinkingLevel,
      convertToLlm: this.#convertToLlm,
      ...Object.fromEntries(this.#hooks.map((name) => [name, callbacks.loopHook(name, signal)])),
      getSteeringMessages: callbacks.poll("getSteeringMessages"),
      getFollowUpMessages: callbacks.poll("getFollowUpMessages"),
    };
  }
}

function refuse(command) {
  throw new RefusedError(`the loop alone has no queues and no state, so there is no ${command.cmd}`);
}

for (const name of ["steer", "followUp", "clearQueue", "peekQueued", "reset", "state", "waitForIdle"]) {
  LoopConversation.prototype[name] = refuse;
}

function without(names, others) {
  return names.filter((name) => !others.includes(name));
}

/** The user's message that says a text, with the images that go with it. */
function spoken(text, images = []) {
  return { role: "user", content: [{ type: "text", text }, ...images], timestamp: Date.now() };
}
