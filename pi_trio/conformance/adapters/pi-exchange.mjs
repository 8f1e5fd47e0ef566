/*
 * What every conversation has, whoever it is with: a voice that can be silenced, the open asks with the
 * tester's commands on them, the listeners by name, and operations whose outcome is told. Nothing here
 * knows what is talked to.
 */
import { Asks } from "./pi-asks.mjs";
import { Callbacks } from "./pi-callbacks.mjs";
import { checkedOptions } from "./pi-fields.mjs";
import { DriverError, field, textOf } from "./pi-protocol.mjs";

/** What the wire keeps of a value now, whatever becomes of the value later. */
export function copy(value) {
  return JSON.parse(JSON.stringify(value));
}

/** Refuses names that are not among the known ones. */
export function known(names, given, what) {
  for (const name of given) {
    if (!names.includes(name)) throw new DriverError(`this profile has no ${what} "${name}"`);
  }
}

/** The plain options of a `create`, which must be known to the profile. */
export function plainOptions({ options = {} }, names) {
  const { abortMode = "signal", ...plain } = options;
  if (abortMode !== "signal") throw new DriverError(`abortMode "${abortMode}" is not offered`);
  known(names, Object.keys(plain), "option");
  return checkedOptions(plain);
}

export class Exchange {
  #asks;
  #listeners = new Map();
  #say;
  #silent = false;
  #tellListeners;
  #unsubscribe = new Map();

  /** `create` is the command that names the listeners, `createStream` makes Pi's own event stream. */
  constructor(create, createStream, say) {
    this.#say = (message) => this.#silent || say(message);
    this.#tellListeners = new Set(create.tellListeners);
    this.#asks = new Asks(this.#say);
    this.callbacks = new Callbacks({ asks: this.#asks, say: this.#say, createStream });
  }

  /** Ends the conversation for the tester: nothing is said from here any more. */
  abandon() {
    this.#silent = true;
  }

  /** Starts an operation and tells how it settles. Nothing else hangs on its promise. */
  follow(op, start) {
    start().then(
      () => this.#say({ tell: "settled", op, ok: true }),
      (error) => this.#say({ tell: "settled", op, ok: false, error: textOf(error) }),
    );
  }

  /**
   * Subscribes the listener of that name with `add`, which returns the function that unsubscribes it.
   * Pi counts the same function once, so one name is one function, however often it is subscribed. `state`
   * gives what goes with each event.
   */
  subscribe(command, add, state = () => undefined) {
    const key = field(command, "key", "string");
    if (!this.#listeners.has(key)) {
      const notify = this.#tellListeners.has(key);
      this.#listeners.set(key, this.callbacks.listener(key, { notify, state }));
    }
    this.#unsubscribe.set(key, add(this.#listeners.get(key)));
  }

  unsubscribe(command) {
    const key = field(command, "key", "string");
    if (!this.#unsubscribe.has(key)) throw new DriverError(`no listener "${key}" was ever subscribed`);
    return this.#unsubscribe.get(key)();
  }

  answer(command) {
    if (command.throw !== undefined) field(command, "throw", "string");
    this.#asks.answer(field(command, "ask"), command.value, command.throw);
  }

  /** A progress report. After the answer it is a late one, which is Pi's to ignore. */
  update(command) {
    const ask = this.#asks.find(field(command, "ask"));
    if (ask.fn !== "execute") throw new DriverError(`ask "${ask.id}" is no execute`);
    ask.update(command.value);
  }

  push(command) {
    const event = field(command, "event", "object");
    this.#onStream(command, (ask) => {
      if (event.type === "done" || event.type === "error") this.#asks.close(ask);
      ask.stream.push(event);
    });
  }

  end(command) {
    this.#onStream(command, (ask) => {
      this.#asks.close(ask);
      ask.stream.end(command.result ?? undefined);
    });
  }

  /**
   * Makes the stream's iteration raise once what was pushed before is delivered. An async generator awaits
   * what it yields, so a rejected promise among the events raises at its place, and Pi's own stream needs
   * no wrapping.
   */
  fail(command) {
    const failure = Promise.reject(new Error(field(command, "error", "string")));
    failure.catch(() => {});
    this.#onStream(command, (ask) => {
      this.#asks.close(ask);
      ask.stream.push(failure);
    });
  }

  /** Does something to the stream of an ask, or nothing if the stream is closed. */
  #onStream(command, act) {
    const ask = this.#asks.find(field(command, "ask"));
    if (ask.stream === undefined) throw new DriverError(`ask "${ask.id}" has no stream`);
    if (ask.open) act(ask);
  }
}
