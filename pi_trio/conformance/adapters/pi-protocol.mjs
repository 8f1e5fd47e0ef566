/*
 * The wire of the driver protocol, as this side of it speaks it: lines in, lines out, and the rule that a
 * reply is sent only when nothing can run any more without an answer. Nothing here knows Pi.
 */

/** A fault of the driver or of its script, never of the agent: its text says so, as the protocol asks. */
export class DriverError extends Error {
  constructor(text) {
    super(`driver: ${text}`);
  }
}

/** A command that makes no sense to whom it is for, in its present state or ever. */
export class RefusedError extends Error {
  constructor(text) {
    super(`refused: ${text}`);
  }
}

/** What an error says. Anything may be thrown in JavaScript, so anything must have a text. */
export function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** The JSON type of a value. */
export function typeOf(value) {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

/** The field `name` of `command`, which must be there and, where `type` is given, be of that JSON type. */
export function field(command, name, type) {
  const value = command[name];
  const found = typeOf(value);
  if (value === undefined || (type !== undefined && found !== type)) {
    throw new DriverError(
      `${command.cmd} needs "${name}"${type === undefined ? "" : ` (${type}), got ${found}`}`,
    );
  }
  return value;
}

/** The lines of a stream of text, without their line feeds; an unfinished last line counts as one. */
async function* linesOf(input) {
  let rest = "";
  for await (const chunk of input.setEncoding("utf8")) {
    let searched = rest.length;
    rest += chunk;
    let start = 0;
    for (let end = rest.indexOf("\n", searched); end !== -1; end = rest.indexOf("\n", searched)) {
      yield rest.slice(start, end);
      start = searched = end + 1;
    }
    rest = rest.slice(start);
  }
  if (rest !== "") yield rest;
}

/**
 * Resolves when nothing is runnable. An immediate runs after all microtasks, and a subject whose every
 * callback waits for the tester has nothing but microtasks: one round is enough, and none would be too few.
 */
function quiescence() {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Writes messages as lines. `say` takes the text of a message at once, because what it shows may change a
 * moment later; `flush` hands everything said to the pipe in one piece.
 */
export class Voice {
  #lines = [];

  constructor(output) {
    this.output = output;
    // A tester that is gone needs no more answers, and there is nobody left to tell.
    output.on("error", () => process.exit(0));
  }

  say(message) {
    this.#lines.push(JSON.stringify(message));
  }

  flush() {
    if (this.#lines.length === 0) return;
    this.output.write(`${this.#lines.join("\n")}\n`);
    this.#lines = [];
  }
}

/** A line as a command, or nothing (and a word on stderr) if nobody could be answered. */
function parse(line) {
  let command;
  try {
    command = JSON.parse(line);
  } catch (error) {
    console.error(`pi adapter: not JSON, ignored: ${textOf(error)}`);
    return undefined;
  }
  if (command === null || typeof command !== "object" || command.id === undefined) {
    console.error("pi adapter: a command is an object with an id; ignored");
    return undefined;
  }
  return command;
}

/**
 * Answers commands until the input ends. `perform(command)` runs synchronously and returns the value of the
 * reply or throws. Each line is handled, drained and answered before the next is read, so how the input was
 * cut cannot matter.
 */
export async function serve(input, voice, perform) {
  for await (const line of linesOf(input)) {
    if (line.trim() === "") continue;
    const command = parse(line);
    if (command === undefined) continue;
    const outcome = attempt(perform, command);
    await quiescence();
    voice.say({ re: command.id, ...outcome });
    voice.flush();
  }
}

/** The outcome of one command: `{ok}` or `{error}`. */
export function attempt(perform, command) {
  try {
    return { ok: perform(command) ?? null };
  } catch (error) {
    return { error: textOf(error) };
  }
}
