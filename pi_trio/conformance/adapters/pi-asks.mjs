/*
 * The book of open questions: each callback that Pi makes becomes an ask, and stays here until the tester
 * answers it. Pi gets the ask's own promise, with nothing chained to it, so that an answer reaches Pi in as
 * few steps as the answer of an ordinary callback would.
 */
import { DriverError } from "./pi-protocol.mjs";

/**
 * One callback that waits. `open` turns false when its answer is given, or for a stream when the stream is
 * closed.
 */
class Ask {
  answered = false;
  open = true;
  stream = undefined;

  constructor(id, fn, { key, event, signal, accept, update }) {
    Object.assign(this, { id, fn, key, event, signal, accept, update });
    this.promise = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

export class Asks {
  #all = [];
  #byId = new Map();
  #watched = new WeakMap();
  #say;

  constructor(say) {
    this.#say = say;
  }

  /**
   * Asks the tester, and returns the promise of the answer.
   *
   * `key` and `event` (the type of a listener's event) are what an address can name; `args` is what the
   * tester sees; `signal` is left out where Pi passes none, and may be undefined where Pi passes one
   * outside a run; `accept` turns the tester's value into what Pi gets (and may refuse it); `update` is the
   * callback for the progress of a tool.
   */
  ask(fn, args, details) {
    const ask = new Ask(`c${this.#all.length + 1}`, fn, details);
    this.#all.push(ask);
    this.#byId.set(ask.id, ask);
    this.#say({
      ask: ask.id,
      fn,
      key: ask.key,
      args,
      aborted: "signal" in details ? ask.signal?.aborted === true : undefined,
    });
    this.#watch(ask);
    return ask.promise;
  }

  /**
   * The ask that `reference` names: an id, or an address `{fn, key?, event?, nth?}`, which counts from 0
   * the asks of this agent that have all the given fields.
   */
  find(reference) {
    if (typeof reference === "string") {
      const ask = this.#byId.get(reference);
      if (ask === undefined) throw new DriverError(`there is no ask "${reference}"`);
      return ask;
    }
    const { fn, key, event, nth = 0 } = reference ?? {};
    const matching = this.#all.filter(
      (ask) =>
        ask.fn === fn &&
        (key === undefined || ask.key === key) &&
        (event === undefined || ask.event === event),
    );
    const ask = matching[nth];
    if (ask === undefined) throw new DriverError(`there is no ask ${JSON.stringify(reference)} yet`);
    return ask;
  }

  /** Answers an ask with a value or, where `failure` is given, with an error of that text. */
  answer(reference, value, failure) {
    const ask = this.find(reference);
    if (ask.answered) throw new DriverError(`ask "${ask.id}" is answered already`);
    // A value that is refused must leave the ask as it was, so it is looked at first.
    const accepted = failure === undefined ? ask.accept(value ?? undefined, ask) : undefined;
    ask.answered = true;
    if (ask.stream === undefined) this.close(ask);
    if (failure === undefined) ask.resolve(accepted);
    else ask.reject(new Error(failure));
  }

  /** From now on an abort is no news to this ask. */
  close(ask) {
    ask.open = false;
    this.#watched.get(ask.signal)?.delete(ask);
  }

  /** Keeps one listener a signal, which tells the open asks in the order in which they were asked. */
  #watch(ask) {
    const { signal } = ask;
    if (signal === undefined || signal.aborted) return;
    let asks = this.#watched.get(signal);
    if (asks === undefined) {
      asks = new Set();
      this.#watched.set(signal, asks);
      const tell = () => asks.forEach(({ id }) => this.#say({ tell: "signal", ask: id }));
      signal.addEventListener("abort", tell, { once: true });
    }
    asks.add(ask);
  }
}
