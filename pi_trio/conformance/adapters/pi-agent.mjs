/*
 * One agent and what the tester can do to it. A conversation is replaced as a whole when the tester creates
 * the next one: from then on it says nothing, whatever still runs in it.
 */
import { declaration } from "./pi-callbacks.mjs";
import { copy, Exchange, known, plainOptions } from "./pi-exchange.mjs";
import { checkedCreate, checkedOption, OF_STATE } from "./pi-fields.mjs";
import { DriverError, field } from "./pi-protocol.mjs";

const CLEAR = new Map([
  ["steering", "clearSteeringQueue"],
  ["followUp", "clearFollowUpQueue"],
  ["all", "clearAllQueues"],
]);

export class AgentConversation {
  #agent;
  #profile;
  #snapshot;

  /**
   * Builds the agent that the `create` command describes. `pi` is what was loaded, `say` speaks to the
   * tester.
   */
  constructor(pi, profile, create, say) {
    const { initialState = {}, tools = [], hooks = [], listeners = [] } = checkedCreate(create);
    const plain = plainOptions(create, profile.options);
    known(profile.hooks, hooks, "hook");

    this.#profile = profile;
    this.#snapshot = create.snapshot === true;
    this.exchange = new Exchange(create, pi.createStream, say);
    const { callbacks } = this.exchange;
    this.#agent = new pi.Agent({
      ...plain,
      // A hook that is not named must be absent: Pi looks whether it is there.
      ...Object.fromEntries(hooks.map((name) => [name, callbacks.hook(name)])),
      streamFn: callbacks.hook("streamFn"),
      initialState: { ...initialState, tools: callbacks.tools(tools) },
    });
    for (const key of listeners) this.subscribe({ key });
  }

  prompt(command) {
    const input = field(command, "input");
    this.#follow(command, () => this.#agent.prompt(input, command.images));
  }

  continue(command) {
    this.#follow(command, () => this.#agent.continue());
  }

  waitForIdle(command) {
    this.#follow(command, () => this.#agent.waitForIdle());
  }

  steer(command) {
    this.#agent.steer(field(command, "message", "object"));
  }

  followUp(command) {
    this.#agent.followUp(field(command, "message", "object"));
  }

  abort() {
    this.#agent.abort();
  }

  reset() {
    this.#agent.reset();
  }

  clearQueue(command) {
    const method = CLEAR.get(field(command, "which", "string"));
    if (method === undefined) throw new DriverError(`which is one of ${[...CLEAR.keys()].join(", ")}`);
    this.#agent[method]();
  }

  subscribe(command) {
    const state = () => (this.#snapshot ? this.#state() : undefined);
    this.exchange.subscribe(command, (listener) => this.#agent.subscribe(listener), state);
  }

  setTools(command) {
    this.#agent.state.tools = this.exchange.callbacks.tools(field(command, "tools", "array"));
  }

  setMessages(command) {
    this.#agent.state.messages = field(command, "messages", "array");
  }

  setOption(command) {
    const name = field(command, "name", "string");
    known(this.#profile.settable, [name], "settable option");
    const value = checkedOption(name, field(command, "value"));
    // The model, the level and the prompt belong to the state; the rest are properties of the agent itself.
    const owner = Object.hasOwn(OF_STATE, name) ? this.#agent.state : this.#agent;
    owner[name] = value;
  }

  state() {
    return copy(this.#state());
  }

  messages() {
    return copy(this.#agent.state.messages);
  }

  peekQueued() {
    return copy(this.#agent.peekQueuedMessages());
  }

  #follow(command, start) {
    this.exchange.follow(field(command, "op", "string"), start);
  }

  #state() {
    const { state, signal } = this.#agent;
    return {
      systemPrompt: state.systemPrompt,
      model: state.model,
      thinkingLevel: state.thinkingLevel,
      tools: state.tools.map(declaration),
      messages: state.messages,
      isStreaming: state.isStreaming,
      streamingMessage: state.streamingMessage,
      pendingToolCalls: [...state.pendingToolCalls],
      errorMessage: state.errorMessage,
      hasQueuedMessages: this.#agent.hasQueuedMessages(),
      signal: signal && (signal.aborted ? "aborted" : "live"),
    };
  }
}
