/*
 * What the tester may say in `create` and in the commands that change an agent: names and values, as data. Pi
 * itself looks at few of them, so a misspelt one would have no effect and no error; the protocol wants an
 * error of the driver.
 */
import { DriverError, typeOf } from "./pi-protocol.mjs";

const MODES = ["parallel", "sequential"];
const QUEUE_MODES = ["one-at-a-time", "all"];

/**
 * A list is of the values that can be had, a text is the type. A thinking level is any string: the releases
 * know different ones, and none looks at it.
 */
const OF_OPTION = {
  steeringMode: QUEUE_MODES,
  followUpMode: QUEUE_MODES,
  toolExecution: MODES,
  sessionId: "string",
  thinkingBudgets: "object",
  transport: "string",
  maxRetryDelayMs: "number",
  identity: "object",
  model: "object",
  thinkingLevel: "string",
  systemPrompt: "string",
};
export const OF_STATE = { systemPrompt: "string", model: "object", thinkingLevel: "string", messages: "array" };
const OF_TOOL = {
  name: "string",
  label: "string",
  description: "string",
  parameters: "object",
  executionMode: MODES,
  outputSchema: "object",
  prepareArguments: "object",
};
const OF_BEHAVIOUR = { set: "object", throw: "string" };

/** Refuses a value that a field cannot have. */
function fits(wanted, name, value) {
  const right = Array.isArray(wanted) ? wanted.includes(value) : typeOf(value) === wanted;
  const what = Array.isArray(wanted) ? wanted.join(" or ") : `of the type ${wanted}`;
  if (!right) throw new DriverError(`${name} is ${what}, not ${JSON.stringify(value)}`);
}

/** Refuses values that the fields of an object cannot have. Other names are for others to judge. */
function allFit(wanted, given) {
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(wanted, name)) fits(wanted[name], name, value);
  }
}

/** The value of one option, if it can have it. */
export function checkedOption(name, value) {
  allFit(OF_OPTION, { [name]: value });
  return value;
}

/** Options, if they can have these values. */
export function checkedOptions(given) {
  allFit(OF_OPTION, given);
  return given;
}

/** The fields of `create` whose shape does not depend on who is created. */
export function checkedCreate(create) {
  const { initialState = {}, snapshot = false, options = {} } = create;
  fits("object", "initialState", initialState);
  for (const name of Object.keys(initialState)) {
    if (!Object.hasOwn(OF_STATE, name)) throw new DriverError(`there is no initial state "${name}"`);
  }
  allFit(OF_STATE, initialState);
  fits("boolean", "snapshot", snapshot);
  fits("object", "options", options);
  if (create.tools !== undefined) fits("array", "tools", create.tools);
  for (const name of ["hooks", "listeners", "tellListeners"]) {
    if (create[name] === undefined) continue;
    fits("array", name, create[name]);
    for (const item of create[name]) fits("string", `one of ${name}`, item);
  }
  return create;
}

/** The description of a tool, if it is one. */
export function checkedTool(given) {
  fits("object", "a tool", given);
  fits("string", "name", given.name);
  allFit(OF_TOOL, given);
  const { prepareArguments } = given;
  if (prepareArguments !== undefined) {
    allFit(OF_BEHAVIOUR, prepareArguments);
    const names = Object.keys(prepareArguments);
    if (names.length !== 1 || !Object.hasOwn(OF_BEHAVIOUR, names[0]))
      throw new DriverError('prepareArguments is {"set": {…}} or {"throw": "text"}');
  }
  return given;
}
