/*
 * What differs between the releases of Pi for someone who drives them from outside, as data. How they
 * behave is no matter of the adapter: it shows what the release does.
 */

const HOOKS_OF_ALL = [
  "convertToLlm",
  "transformContext",
  "getApiKey",
  "beforeToolCall",
  "afterToolCall",
  "prepareNextTurn",
];
const OPTIONS_OF_ALL = [
  "steeringMode",
  "followUpMode",
  "toolExecution",
  "sessionId",
  "thinkingBudgets",
  "transport",
  "maxRetryDelayMs",
];
const SETTABLE_IN_ALL = ["steeringMode", "followUpMode", "toolExecution", "model", "thinkingLevel"];

/** The hooks of the loop follow from those of an Agent: its prepareNextTurn is the one with the turn. */
function withoutAgent(hooks) {
  return hooks.filter((name) => name !== "prepareNextTurnWithContext");
}

/**
 * By profile: the optional `hooks` that an Agent calls, where they differ from what follows from those the
 * `loopHooks` that the loop alone calls, the constructor's `options` that are plain data, what can be
 * `settable` later, and the commands that the release has no method for (`lacks`).
 */
const RELEASES = {
  "pi-0.80.2": {
    hooks: HOOKS_OF_ALL,
    loopHooks: [...HOOKS_OF_ALL, "shouldStopAfterTurn"],
    options: OPTIONS_OF_ALL,
    settable: [...SETTABLE_IN_ALL, "systemPrompt"],
    lacks: ["peekQueued"],
  },
  "pi-0.85.0": {
    hooks: [...HOOKS_OF_ALL, "prepareNextTurnWithContext", "shouldStopAfterTurn"],
    options: OPTIONS_OF_ALL,
    settable: [...SETTABLE_IN_ALL, "systemPrompt"],
    lacks: ["peekQueued"],
  },
  "pi-1.0.3": {
    hooks: [...HOOKS_OF_ALL, "prepareNextTurnWithContext", "prepareRequest", "finishTurn"],
    options: OPTIONS_OF_ALL,
    settable: SETTABLE_IN_ALL,
    lacks: [],
  },
  "pi-1.6.0": {
    hooks: [...HOOKS_OF_ALL, "prepareNextTurnWithContext", "prepareRequest", "finishTurn"],
    options: [...OPTIONS_OF_ALL, "identity"],
    settable: SETTABLE_IN_ALL,
    lacks: [],
  },
};

/** The profiles by name, each with what `hello` says of its targets. */
export const PROFILES = new Map(
  Object.entries(RELEASES).map(([name, profile]) => {
    const { hooks, loopHooks } = profile;
    return [
      name,
      {
        ...profile,
        loopHooks: loopHooks ?? withoutAgent(hooks),
        features: { targets: ["agent", "loop"], loopHooks },
      },
    ];
  }),
);
