/*
 * Real Pi behind the driver protocol: `node pi.mjs FOLDER --profile pi-1.6.0`.
 *
 * FOLDER holds the packages (see pi-load.mjs). One process serves any number of agents, one after the
 * other. The process survives what Pi leaves unhandled, and tells it instead.
 */
import { Console } from "node:console";
import { parseArgs } from "node:util";

import { AgentConversation } from "./pi-agent.mjs";
import { loadPi } from "./pi-load.mjs";
import { LoopConversation } from "./pi-loop.mjs";
import { PROFILES } from "./pi-profiles.mjs";
import { attempt, DriverError, field, serve, textOf, Voice } from "./pi-protocol.mjs";

// The protocol owns stdout, so whatever Pi and its dependencies log goes to stderr. They are imported only
// later.
globalThis.console = new Console(process.stderr);

const COMMANDS = [
  "create",
  "prompt",
  "continue",
  "waitForIdle",
  "abort",
  "steer",
  "followUp",
  "clearQueue",
  "reset",
  "sync",
  "subscribe",
  "unsubscribe",
  "setTools",
  "setMessages",
  "setOption",
  "state",
  "messages",
  "peekQueued",
  "answer",
  "update",
  "push",
  "end",
  "fail",
  "burst",
];

/** What a conversation has because it is one, whoever it is with. */
const OF_EXCHANGE = ["unsubscribe", "answer", "update", "push", "end", "fail"];

const TARGETS = new Map([
  ["agent", AgentConversation],
  ["loop", LoopConversation],
]);

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { profile: { type: "string" } },
  });
  if (positionals.length !== 1) throw new Error("usage: node pi.mjs FOLDER --profile pi-RELEASE");
  return { folder: positionals[0], named: values.profile ?? process.env.PI_PROFILE };
}

/** Performs commands in the current conversation; `create` is what makes one current. */
class Driver {
  #conversation = undefined;
  #pi;
  #profile;
  #say;

  constructor(pi, profile, commands, say) {
    this.#pi = pi;
    this.#profile = profile;
    this.commands = commands;
    this.#say = say;
  }

  perform(command) {
    const { cmd } = command;
    if (!this.commands.includes(cmd)) throw new DriverError(`unknown command ${JSON.stringify(cmd)}`);
    if (cmd === "sync") return null;
    if (cmd === "burst") return this.#burst(field(command, "cmds", "array"));
    if (cmd === "create") return this.#create(command);
    if (this.#conversation === undefined) throw new DriverError("there is no agent yet: create one first");
    const performer = OF_EXCHANGE.includes(cmd) ? this.#conversation.exchange : this.#conversation;
    return performer[cmd](command);
  }

  #create(command) {
    this.#conversation?.exchange.abandon();
    // If the new agent cannot be made there is none: what follows was not meant for the former one.
    this.#conversation = undefined;
    const { target = "agent" } = command;
    const Conversation = TARGETS.get(target);
    if (Conversation === undefined) throw new DriverError(`target "${target}" is not offered`);
    this.#conversation = new Conversation(this.#pi, this.#profile, command, this.#say);
  }

  /**
   * Several commands in one synchronous stretch. What follows one agent's end cannot be part of its race.
   */
  #burst(commands) {
    return commands.map((command) =>
      attempt(() => {
        if (["create", "burst"].includes(command?.cmd))
          throw new DriverError(`no ${command.cmd} within a burst`);
        return this.perform(command ?? {});
      }),
    );
  }
}

async function main() {
  const { folder, named } = readArguments();
  const pi = await loadPi(folder);
  const profileName = named ?? `pi-${pi.version}`;
  const profile = PROFILES.get(profileName);
  if (profile === undefined) {
    throw new Error(`unknown profile "${profileName}"; known are ${[...PROFILES.keys()].join(", ")}`);
  }
  const commands = COMMANDS.filter((name) => !profile.lacks.includes(name));
  const voice = new Voice(process.stdout);
  const driver = new Driver(pi, profile, commands, (message) => voice.say(message));
  const unhandled = (error) => voice.say({ tell: "unhandled", error: textOf(error) });
  process.on("unhandledRejection", unhandled);
  process.on("uncaughtException", unhandled);
  // Pi picks some of them up later. That is no news, and Node only warns where nobody listens.
  process.on("rejectionHandled", () => {});
  voice.say({
    tell: "hello",
    protocol: 1,
    subject: "pi",
    version: pi.version,
    profile: profileName,
    hooks: profile.hooks,
    commands,
    quiescence: "exact",
    order: "total",
    features: profile.features,
  });
  voice.flush();
  await serve(process.stdin, voice, (command) => driver.perform(command));
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(`pi adapter: ${textOf(error)}`);
    process.exit(1);
  },
);
