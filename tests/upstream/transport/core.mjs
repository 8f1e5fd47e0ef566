// Asks the functions of a real pi-ai: one line of JSON for each question comes in, and one with the answer goes out.
//
//   node core.mjs FOLDER < questions > answers
//
// FOLDER holds the release in its node_modules. A question is {ask, with: [arguments]}, an answer {value} or {error}.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const dist = resolve(process.argv[2], "node_modules/@earendil-works/pi-ai/dist");
const load = async (name) => (existsSync(join(dist, name)) ? import(pathToFileURL(join(dist, name))) : {});
const [models, simple, estimate, overflow, retry, transcript, text, store, environment] = await Promise.all(
	[
		"models.js",
		"api/simple-options.js",
		"utils/estimate.js",
		"utils/overflow.js",
		"utils/retry.js",
		"utils/transcript.js",
		"utils/text.js",
		"auth/credential-store.js",
		"env-api-keys.js",
	].map(load),
);

// A collection with the provider `p`. What `fails` names throws: the store, or a way of authenticating.
async function collected({ model, auth, stored, variables, identity, fails }, adapter) {
	const fail = (place) => {
		if (fails?.at === place) throw new Error(fails.text);
	};
	const credentials = new store.InMemoryCredentialStore();
	if (stored) await credentials.modify("p", async () => stored);
	const collection = models.createModels({
		credentials: {
			read: async (id) => (fail("read"), credentials.read(id)),
			modify: async (...change) => (fail("modify"), credentials.modify(...change)),
			list: () => credentials.list(),
			delete: (id) => credentials.delete(id),
		},
		identity,
		authContext: { env: async (name) => variables[name], fileExists: async () => false },
	});
	const apiKey = {
		name: "key",
		resolve: async ({ ctx, credential }) => {
			fail("resolve");
			const key = credential?.key ?? (await ctx.env("P_KEY"));
			if (!key) return undefined;
			return { auth: { apiKey: key, ...auth.more }, env: { ...auth.env, ...credential?.env }, source: "test" };
		},
	};
	const oauth = {
		name: "login",
		refresh: async () => (fail("refresh"), { ...stored, access: "renewed", expires: Date.now() * 2 }),
		toAuth: async ({ access }) => (fail("toAuth"), { apiKey: access }),
	};
	collection.setProvider(
		models.createProvider({
			id: "p",
			auth: { ...(auth.apiKey ? { apiKey } : {}), ...(auth.oauth ? { oauth } : {}) },
			models: [model],
			api: { "some-api": adapter },
		}),
	);
	return collection;
}

function failure({ stopReason, errorMessage, content, usage, api, provider, model }) {
	return { stopReason, errorMessage, content, usage, api, provider, model };
}

// What a provider is given, when a collection has resolved the request; or the message of the failure.
async function request({ context, options, aborted, simple, ...parts }) {
	let given;
	const capture = (asked, told, { signal, ...rest }) => {
		given = { baseUrl: asked.baseUrl, messages: told.messages, prompt: told.systemPrompt, tools: told.tools, ...rest };
		throw new Error("captured");
	};
	const collection = await collected(parts, { stream: capture, streamSimple: capture });
	const controller = new AbortController();
	if (aborted) controller.abort();
	const method = simple ? "completeSimple" : "complete";
	const message = await collection[method](parts.model, context, { ...options, signal: controller.signal });
	return given ? { given } : { message: failure(message) };
}

// What comes of fetching a response, and of cancelling it: the text of the failure, or that the adapter was asked.
async function deferred({ options, aborted, defers, ...parts }) {
	const asked = (_model, { id }) => {
		throw new Error(`asked for ${id}`);
	};
	const adapter = { stream: asked, streamSimple: asked, ...(defers ? { fetchDeferred: asked, cancelDeferred: async (...said) => asked(...said) } : {}) };
	const collection = await collected(parts, adapter);
	const controller = new AbortController();
	if (aborted) controller.abort();
	const handle = { provider: "p", modelId: "m", api: "some-api", id: "h1" };
	const all = { ...options, signal: controller.signal };
	const fetched = failure(await collection.fetchDeferred(parts.model, handle, all));
	const cancelled = await collection.cancelDeferred(parts.model, handle, all).catch((error) => error.message);
	return { fetched, cancelled };
}

// Where a key may come from, of what is configured.
async function configured(parts) {
	const collection = await collected(parts, { stream() {}, streamSimple() {} });
	const attempt = async (ask) => {
		try {
			return (await ask()) ?? null;
		} catch (error) {
			return { error: error.message, code: error.code };
		}
	};
	return {
		check: await attempt(() => collection.checkAuth("p")),
		available: await attempt(async () => (await collection.getAvailable()).map(({ id }) => id)),
		model: collection.getModel("p", "m")?.id ?? null,
	};
}

// The whole of a retry: the answers that come one after the other, and what was told of it.
async function retrying(answers, policy, aborted) {
	const controller = new AbortController();
	if (aborted) controller.abort();
	const told = [];
	const tell = (name) => (...said) => void told.push([name, ...said.map((each) => each ?? null)]);
	const last = await retry.retryAssistantCall(async () => answers.shift(), policy, controller.signal, {
		onRetryScheduled: tell("scheduled"),
		onRetryAttemptStart: tell("start"),
		onRetryFinished: tell("finished"),
	});
	return { told, last, left: answers.length };
}

// Which tools stand in the request, and how many system messages have theirs there. 1.0.3 says whether declarations stay
// in their places (all but the leading one's), 1.6.0 gives the number.
function place(messages, support) {
	const { requestTools, anchorsAdditions, foldedSystemMessages } = transcript.resolveTranscriptTools(messages, support);
	const system = messages.filter(({ role }) => role === "system").length;
	const folded = foldedSystemMessages ?? (anchorsAdditions && messages[0]?.role !== "system" ? 0 : anchorsAdditions ? 1 : system);
	return { requestTools, folded };
}

const questions = {
	cost: (model, usage) => models.calculateCost(model, usage),
	levels: (model) => models.getSupportedThinkingLevels(model),
	clamp: (model, level) => models.clampThinkingLevel(model, level),
	limits: (limit, most, level, budgets) => simple.adjustMaxTokensForThinking(limit ?? undefined, most, level, budgets),
	options: (model, context, options) => {
		const { maxTokens, samplingParams, temperature } = simple.buildBaseOptions(model, context, options);
		return { maxTokens, samplingParams, temperature };
	},
	estimate: (context) => estimate.estimateContextTokens(context),
	overflow: (message, window) => overflow.isContextOverflow(message, window ?? undefined),
	recoverable: (message, wanted) => overflow.isRecoverableLength(message, wanted),
	retryable: (message) => retry.isRetryableAssistantError(message),
	delay: (policy, attempt) => retry.retryDelayMs(policy, attempt),
	retrying,
	request,
	deferred,
	configured,
	keys: (provider, env) => [environment.findEnvKeys(provider, env) ?? [], environment.getEnvApiKey(provider, env) ?? null],
	normalise: (context) => transcript.normalizeContext(context),
	current: (messages) => transcript.getCurrentSystemMessage(messages) ?? null,
	prompt: (messages) => transcript.getCurrentSystemPrompt(messages),
	tools: (messages) => transcript.getCurrentTools(messages),
	update: (message) => text.renderSystemMessageUpdate(message),
	collapse: (messages) => transcript.collapseSystemMessages({ messages }).messages,
	changes: (before, after) => transcript.getToolStateChanges(before, after),
	place,
};

for await (const line of createInterface({ input: process.stdin })) {
	const { ask, with: given } = JSON.parse(line);
	let answer;
	try {
		answer = { value: await questions[ask](...given) };
	} catch (error) {
		answer = { error: error.message };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
