/*
 * Pi's callbacks as asks: for each one what the tester is shown, and what its answer becomes. Arguments are
 * shown whole, except that functions and signals are left out and that a tool in a context is shown as its
 * declaration.
 */
import { checkedTool } from "./pi-fields.mjs";
import { DriverError } from "./pi-protocol.mjs";

/** A tool as the model is told about it. */
export function declaration({ name, description, parameters, constrainedSampling }) {
  return { name, description, parameters, constrainedSampling };
}

/** A context, its tools as declarations. */
function shown(context) {
  return context.tools === undefined ? context : { ...context, tools: context.tools.map(declaration) };
}

const asGiven = (value) => value;

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Makes `target` equal to `source` without making it another object, and without running a setter. */
function replaceInPlace(target, source) {
  if (!isObject(target) || !isObject(source))
    throw new DriverError("args can only replace an object by an object");
  for (const key of Object.keys(target)) delete target[key];
  Object.defineProperties(target, Object.getOwnPropertyDescriptors(source));
}

/**
 * The callbacks of one agent. `asks` is its book, `say` its voice, `createStream` makes Pi's own event
 * stream.
 */
export class Callbacks {
  #asks;
  #say;
  #createStream;

  constructor({ asks, say, createStream }) {
    this.#asks = asks;
    this.#say = say;
    this.#createStream = createStream;
  }

  /** The hook of that name, as the Agent's constructor takes it. */
  hook(name) {
    return (...given) => this[name](...given);
  }

  /**
   * The hook of that name, as a low-level config takes it. There the loop hands some hooks no signal; the
   * run's is what the tester is told of all the same.
   */
  loopHook(name, signal) {
    if (name === "prepareNextTurn") return (turn) => this.#turn(name, turn, signal, this.#update);
    return (given) => this[name](given, signal);
  }

  /** A poll of a queue, which gets nothing and hears of no abort. Nothing is an empty queue. */
  poll(name) {
    return () => this.#asks.ask(name, {}, { accept: asGiven });
  }

  streamFn(model, context, options) {
    const { reasoning, apiKey, sessionId, identity, signal } = options;
    const accept = (value, ask) => {
      if (value !== "stream") throw new DriverError('streamFn is answered with "stream" or with throw');
      ask.stream = this.#createStream();
      return ask.stream;
    };
    const args = { model, context: shown(context), options: { reasoning, apiKey, sessionId, identity } };
    return this.#asks.ask("streamFn", args, { signal, accept });
  }

  /** A tool as Pi takes it, from the tester's description. */
  tool({ prepareArguments, ...data }) {
    const tool = {
      ...data,
      execute: (toolCallId, args, signal, update) =>
        this.#asks.ask(
          "execute",
          { tool: data.name, toolCallId, args },
          { key: toolCallId, signal, update, accept: asGiven },
        ),
    };
    if (prepareArguments)
      tool.prepareArguments = (args) => this.#prepare(data.name, prepareArguments, args);
    return tool;
  }

  /** Live tools, from a list of descriptions. */
  tools(given) {
    return given.map((tool) => this.tool(checkedTool(tool)));
  }

  /** Pi calls this one synchronously, so its behaviour is data and the tester is only told. */
  #prepare(tool, behaviour, args) {
    this.#say({ tell: "prepareArguments", tool, args });
    if (behaviour.throw !== undefined) throw new Error(behaviour.throw);
    return { ...args, ...behaviour.set };
  }

  /**
   * A listener called `key`: in notify mode it tells, else it asks. `state` gives what goes with each
   * event.
   */
  listener(key, { notify, state }) {
    if (notify) {
      return (event) => this.#say({ tell: "event", key, event, state: state() });
    }
    return (event, signal) =>
      this.#asks.ask(
        "listener",
        { event, state: state() },
        { key, event: event.type, signal, accept: asGiven },
      );
  }

  convertToLlm(messages) {
    return this.#asks.ask("convertToLlm", { messages }, { accept: (value) => value ?? messages });
  }

  transformContext(messages, signal) {
    return this.#asks.ask(
      "transformContext",
      { messages },
      { signal, accept: (value) => value ?? messages },
    );
  }

  getApiKey(provider) {
    return this.#asks.ask("getApiKey", { provider }, { accept: asGiven });
  }

  beforeToolCall({ assistantMessage, toolCall, args, context }, signal) {
    const accept = (value) => {
      if (value?.args === undefined) return value;
      const { args: replacement, ...decision } = value;
      replaceInPlace(args, replacement);
      return decision;
    };
    const seen = { assistantMessage, toolCall, args, context: shown(context) };
    return this.#asks.ask("beforeToolCall", seen, { key: toolCall.id, signal, accept });
  }

  afterToolCall({ assistantMessage, toolCall, args, result, isError, context }, signal) {
    const seen = { assistantMessage, toolCall, args, result, isError, context: shown(context) };
    return this.#asks.ask("afterToolCall", seen, { key: toolCall.id, signal, accept: asGiven });
  }

  prepareNextTurn(signal) {
    return this.#asks.ask("prepareNextTurn", {}, { signal, accept: this.#update });
  }

  prepareNextTurnWithContext(turn, signal) {
    return this.#turn("prepareNextTurnWithContext", turn, signal, this.#update);
  }

  prepareRequest({ context, model, thinkingLevel }, signal) {
    const seen = { context: shown(context), model, thinkingLevel };
    return this.#asks.ask("prepareRequest", seen, { signal, accept: this.#update });
  }

  finishTurn(turn, signal) {
    return this.#turn("finishTurn", turn, signal, asGiven);
  }

  shouldStopAfterTurn(turn, signal) {
    return this.#turn("shouldStopAfterTurn", turn, signal, asGiven);
  }

  #turn(fn, { message, toolResults, context, newMessages }, signal, accept) {
    return this.#asks.ask(
      fn,
      { message, toolResults, context: shown(context), newMessages },
      { signal, accept },
    );
  }

  /** An answer that may replace the context: the tools in it become live. */
  #update = (value) => {
    if (value?.context?.tools === undefined) return value;
    return {
      ...value,
      context: { ...value.context, tools: this.tools(value.context.tools) },
    };
  };
}
