/*
 * Finds the two packages of Pi below a folder and imports them. The folder is either one that has them in
 * its node_modules or the agent package itself (a checkout, say); pi-ai is taken from where the agent
 * package would take it, because its stream class must be the one that belongs to this agent.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const AGENT = "@earendil-works/pi-agent-core";
const AI = "@earendil-works/pi-ai";

function manifestAt(path) {
  return { ...JSON.parse(readFileSync(path, "utf8")), folder: dirname(realpathSync(path)) };
}

/** The manifest of the agent package that `root` holds or is. */
function agentManifest(root) {
  const nested = join(root, "node_modules", ...AGENT.split("/"), "package.json");
  if (existsSync(nested)) return manifestAt(nested);
  const own = join(root, "package.json");
  const manifest = existsSync(own) ? manifestAt(own) : undefined;
  if (manifest?.name === AGENT) return manifest;
  throw new Error(`${root} neither has node_modules/${AGENT} nor is that package`);
}

/** The file that `import` of the package's bare name would load. */
function entryOf({ name, folder, exports, main }) {
  const root = exports?.["."] ?? exports;
  const entry = join(folder, root?.import ?? root?.default ?? main ?? "index.js");
  if (!existsSync(entry)) throw new Error(`${name} in ${folder} is not built: ${entry} is missing`);
  return pathToFileURL(entry).href;
}

/**
 * Imports Pi from `root`: its Agent class, its loop, its stream factory, and the version of the agent
 * package.
 */
export async function loadPi(root) {
  const agent = agentManifest(resolve(root));
  const aiPath = findPackageJSON(AI, pathToFileURL(join(agent.folder, "package.json")));
  if (aiPath === undefined) throw new Error(`${AI} cannot be found from ${agent.folder}`);
  const { Agent, runAgentLoop, runAgentLoopContinue } = await import(entryOf(agent));
  const { createAssistantMessageEventStream } = await import(entryOf(manifestAt(aiPath)));
  return {
    Agent,
    runAgentLoop,
    runAgentLoopContinue,
    createStream: createAssistantMessageEventStream,
    version: agent.version,
  };
}
