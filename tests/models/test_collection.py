"""Requests by way of a collection: what a provider is given, and what becomes of everything that can fail."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from pi_trio import Agent
from pi_trio.abort import AbortController
from pi_trio.events import StreamDone, StreamError
from pi_trio.messages import AssistantMessage, DeferredHandle, Model, UserMessage
from pi_trio.models.auth import AuthResolution, ProviderAuth, RequestAuth
from pi_trio.models.collection import Models
from pi_trio.models.credentials import ApiKeyCredential, InMemoryCredentialStore
from pi_trio.models.dialect import DIALECT_0_80_2, DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.models_error import ModelsError, OperationAbortedError
from pi_trio.models.provider import LazyAdapter, Provider
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext, ResponseStream, StreamOptions
from pi_trio.models.transport_errors import ConnectionFailedError

from .declaring import declare, system
from .modelling import context, model
from .providing import Deferring, Echo, Generating, collection, pushed

HANDLE = DeferredHandle(provider="p", model_id="m", api="some-api", id="h1")
ASKED = context(UserMessage(content="hello", timestamp=1))


class Raising(Echo):
    def stream(self, *asked: Any) -> Any:
        raise OSError("no route")


class EndingEarly(Echo):
    def stream(self, which, *asked: Any) -> Any:
        return pushed("so far", which, end=False)


class WithResultOnly(Echo):
    def stream(self, which, *asked: Any) -> Any:
        stream = ResponseStream()
        stream.end(pushed("told by the result", which)._result)
        return stream


class BadToEnter(Echo):
    def stream(self, *asked: Any) -> Any:
        return self

    async def __aenter__(self):
        async with trio.open_nursery():
            raise OSError("no route")

    async def __aexit__(self, *error):
        raise AssertionError("it was never entered")


async def events_of(stream: Any) -> list[Any]:
    async with stream:
        return [event async for event in stream]


async def failure_of(stream: Any) -> StreamError:
    async with stream:
        events = [event async for event in stream]
        result = await stream.result()
    assert isinstance(events[-1], StreamError)
    assert result is events[-1].error
    assert events[-1].reason == result.stop_reason
    return events[-1]


# --- what goes well ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "said"), [("complete", "full"), ("complete_simple", "simple")])
async def test_a_response(method, said):
    adapter = Echo()
    answer = await getattr(collection(adapter), method)(model(), ASKED)
    assert isinstance(answer, AssistantMessage)
    assert answer.text == said
    ((asked, told, options),) = adapter.asked
    assert (asked, told.messages, options.api_key) == (model(), ASKED.messages, "k")


async def test_the_events_are_those_of_the_provider():
    events = await events_of(collection(Echo()).stream(model(), ASKED))
    assert [event.type for event in events] == ["start", "text_start", "text_delta", "text_end", "done"]


async def test_it_is_a_stream_function():
    adapter = Echo()
    agent = Agent(
        stream_fn=collection(adapter).stream_simple, model=model(reasoning=True), thinking_level="high"
    )
    result = await agent.prompt("hello")
    assert result.text == "simple"
    assert adapter.options.reasoning == "high"
    assert adapter.options.transport == "auto"


async def test_the_result_can_be_asked_for_at_any_time():
    for adapter in (Echo(), Generating()):
        async with collection(adapter).stream(model(), ASKED) as stream:
            first = await anext(aiter(stream))
            result = await stream.result()
            rest = [event async for event in stream]
        assert first.type == "start"
        assert result is rest[-1].message
        assert len(rest) == 4


async def test_a_stream_that_is_left_has_no_result():
    adapter = Generating()
    async with collection(adapter).stream(model(), ASKED) as stream:
        async for _ in stream:
            break
    assert await stream.result() is None
    assert [event async for event in stream] == []
    assert adapter.closed == 1


async def test_a_stream_is_entered_first():
    stream = collection(Echo()).stream(model(), ASKED)
    with pytest.raises(RuntimeError, match="entered"):
        await anext(stream)


async def test_two_cannot_read_at_once():
    class Silent(Echo):
        def stream(self, *asked):
            return ResponseStream()

    async with collection(Silent()).stream(model(), ASKED) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(anext, stream)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await stream.result()
        nursery.cancel_scope.cancel()


async def test_only_the_newest_release_says_how_long_it_took(autojump_clock):
    class Slow(Echo):
        def stream(self, which, *asked):
            return Delayed(which)

    class Delayed(ResponseStream):
        def __init__(self, which):
            super().__init__()
            self.which = which

        async def __aenter__(self):
            await trio.sleep(1.5)
            self.push(pushed("x", self.which)._events[-1])
            return self

    assert (await collection(Slow()).complete(model(), ASKED)).duration_ms == 1500
    older = collection(Slow(), dialect=DIALECT_1_0_3)
    assert (await older.complete(model(), ASKED)).duration_ms is None


async def test_an_agent_reads_a_generator_through_it():
    adapter = Generating()
    agent = Agent(stream_fn=collection(adapter).stream, model=model())
    assert (await agent.prompt("hello")).text == "so far"
    assert adapter.closed == 1


async def test_an_agent_that_is_aborted_while_a_key_is_looked_for():
    class Never:
        async def resolve(self, *asked):
            await trio.sleep_forever()

    models = collection(Echo(), auth=ProviderAuth(api_key=Never()))
    agent = Agent(stream_fn=models.stream_simple, model=model())
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def abort():
            await trio.testing.wait_all_tasks_blocked()
            agent.abort()

        result = await agent.prompt("hello")
    assert result.stop_reason == "aborted"


# --- what fails -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "which", "text"),
    [
        (Models(), model(), "Unknown provider: p"),
        (collection(Echo(), key=None), model(), "Provider is not configured: p"),
        (collection(Echo()), model(api="other"), 'Provider p has no API implementation for "other"'),
        (collection(Echo()), model(type="image"), "Model p/m is not a chat model"),
        (collection(Raising()), model(), "no route"),
        (collection(BadToEnter()), model(), "no route"),
    ],
)
async def test_a_request_that_fails_on_its_way_is_an_error_event(models, which, text):
    failed = await failure_of(models.stream(which, ASKED))
    assert (failed.reason, failed.error.error_message, failed.error.content) == ("error", text, ())
    assert (failed.error.provider, failed.error.model) == ("p", "m")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("a mistake"), True),
        (ModelsError("provider", "no"), False),
        (OperationAbortedError(), False),
        (ResponseFailedError("no"), False),
        (ConnectionFailedError("no route"), False),
    ],
)
async def test_what_a_provider_raises_by_mistake_is_logged(error, told, caplog):
    class Mistaken(Echo):
        def stream(self, *asked: Any) -> Any:
            raise error

    await failure_of(collection(Mistaken()).stream(model(), ASKED))
    assert [(each.levelname, each.exc_info[1]) for each in caplog.records] == [("ERROR", error)] * told


@pytest.mark.parametrize(
    ("models", "which", "hint"),
    [
        (
            Models(),
            Model.unknown(),
            "the agent has no model: give it one, as by Agent(model=models.require_model(",
        ),
        (
            Models(),
            model(),
            "asked for p/m has no provider 'p': add it with set_provider, or begin with builtin_",
        ),
        (collection(Echo(), key=None), model(), "no key for p: set P_KEY, or give the agent get_api_key"),
        (
            collection(Echo(), key=None, auth=ProviderAuth()),
            model(),
            "no key for p: give the agent get_api_key",
        ),
    ],
)
async def test_who_forgot_something_is_told_what_to_do(models, which, hint, caplog):
    await failure_of(models.stream(which, ASKED))
    assert [(record.name, record.levelname) for record in caplog.records] == [("pi_trio", "WARNING")]
    assert hint in caplog.text


async def test_types_of_models_are_newer_than_two_releases():
    answer = await collection(Echo(), dialect=DIALECT_0_85_0).complete(model(type="image"), ASKED)
    assert answer.text == "full"
    models = Models(dialect=DIALECT_0_85_0)
    models.set_provider(Provider("p", api=Echo(), models=[model(type="image")]))
    assert models.get_models() == (model(type="image"),)


async def test_without_a_key_the_oldest_release_asks_all_the_same():
    adapter = Echo()
    await collection(adapter, key=None, dialect=DIALECT_0_80_2).complete(model(), ASKED)
    assert adapter.options.api_key is None


@pytest.mark.parametrize(
    ("dialect", "reason"), [(DIALECT_0_85_0, "error"), (DIALECT_1_0_3, "error"), (DIALECT_1_6_0, "aborted")]
)
async def test_an_abort_before_the_request(dialect, reason):
    abort = AbortController()
    abort.abort()
    failed = await failure_of(
        collection(Echo(), dialect=dialect).stream(model(), ASKED, ProviderOptions(signal=abort.signal))
    )
    assert (failed.reason, failed.error.error_message) == (reason, "This operation was aborted")


async def test_an_abort_ends_the_wait_for_a_key():
    class Never:
        async def resolve(self, *asked):
            await trio.sleep_forever()

    abort = AbortController()
    models = collection(Echo(), auth=ProviderAuth(api_key=Never()))
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def raise_it():
            await trio.testing.wait_all_tasks_blocked()
            abort.abort()

        failed = await failure_of(models.stream(model(), ASKED, StreamOptions(signal=abort.signal)))
    assert failed.reason == "aborted"


@pytest.mark.parametrize("raised", [False, True])
async def test_a_stream_that_just_ends_is_a_failure_with_what_has_come(raised):
    abort = AbortController()
    async with collection(EndingEarly()).stream(
        model(), ASKED, ProviderOptions(signal=abort.signal)
    ) as stream:
        if raised:
            abort.abort()
        events = [event async for event in stream]
    assert isinstance(events[-1], StreamError)
    assert events[-1].reason == ("aborted" if raised else "error")
    assert (events[-1].error.text, events[-1].error.error_message) == (
        "so far",
        "Stream ended without a result",
    )


async def test_a_stream_that_ends_with_its_result_alone():
    async with collection(WithResultOnly()).stream(model(), ASKED) as stream:
        assert [event async for event in stream] == []
        result = await stream.result()
    assert result is not None
    assert result.text == "told by the result"


async def test_a_provider_that_raises_in_the_middle():
    adapter = Generating(fails=True)
    failed = await failure_of(collection(adapter).stream(model(), ASKED))
    assert (failed.error.text, failed.error.error_message) == ("so far", "the line is dead")
    assert adapter.closed == 1


async def test_a_generators_scopes_are_left_when_its_reader_goes():
    adapter = Generating()
    async with collection(adapter).stream(model(), ASKED) as stream:
        async for event in stream:
            if event.type == "text_delta":
                break
    assert adapter.closed == 1


async def test_cancelling_a_response_leaves_the_provider():
    left = []

    class Held(ResponseStream):
        async def __aexit__(self, *error):
            left.append(error[0])

    class Holding(Echo):
        def stream(self, *asked):
            return Held()

    with trio.move_on_after(0) as scope:
        await collection(Holding()).complete(model(), ASKED)
    assert scope.cancelled_caught
    assert left in ([trio.Cancelled], [])


# --- what a provider is given -----------------------------------------------------------------------------


async def test_prompt_and_tools_come_as_the_release_has_them():
    tools = (declare("a"),)
    asked = ModelContext(messages=ASKED.messages, system_prompt="p", tools=tools)
    adapter = Echo()
    await collection(adapter).complete(model(), asked)
    await collection(adapter, dialect=DIALECT_0_85_0).complete(model(), asked)
    (_, newer, _), (_, older, _) = adapter.asked
    assert newer == ModelContext(messages=(system("p", tools, timestamp=0), *ASKED.messages))
    assert older is asked


class Placed:
    """An auth with everything."""

    async def resolve(self, context, credential):
        await trio.lowlevel.checkpoint()
        key = None if credential is None else credential.key
        auth = RequestAuth(
            api_key=key or "found", headers={"A": "auth", "B": "auth", "C": "auth"}, base_url="http://here"
        )
        return AuthResolution(auth=auth, env={"X": "auth", "Y": "auth"}, source="test")


async def test_who_wins():
    adapter = Echo()
    models = collection(
        adapter, auth=ProviderAuth(api_key=Placed()), identity={"version": "1", "userAgent": "short", "x": 1}
    )
    given = ProviderOptions(
        headers={"c": None, "d": "mine"},
        env={"Y": "mine"},
        identity={"version": "2"},
        transform_headers=lambda headers: {**headers, "last": "word"},
    )
    await models.complete(model(headers={"b": "model", "C": "model"}), ASKED, given)
    ((asked, _, options),) = adapter.asked
    assert asked.base_url == "http://here"
    assert options.api_key == "found"
    assert list((options.headers or {}).items()) == [
        ("A", "auth"),
        ("b", "model"),
        ("c", None),
        ("d", "mine"),
        ("last", "word"),
    ]
    assert options.env == {"X": "auth", "Y": "mine"}
    assert options.identity == {"version": "2", "userAgent": "short"}
    assert options.transform_headers is None
    assert options.dialect is DIALECT_1_6_0


async def test_the_callers_key_wins():
    adapter = Echo()
    await collection(adapter, auth=ProviderAuth(api_key=Placed())).complete(
        model(), ASKED, ProviderOptions(api_key="mine")
    )
    assert adapter.options.api_key == "mine"


async def test_older_releases_have_no_identity():
    adapter = Echo()
    models = collection(adapter, identity={"version": "1"}, dialect=DIALECT_1_0_3)
    await models.complete(model(), ASKED, ProviderOptions(identity={"version": "2"}))
    assert adapter.options.identity is None


async def test_headers_may_be_transformed_in_time():
    adapter = Echo()

    async def transform(headers):
        await trio.lowlevel.checkpoint()

    await collection(adapter).complete(
        model(), ASKED, ProviderOptions(headers={"a": "b"}, transform_headers=transform)
    )
    assert adapter.options.headers is None


async def test_an_abort_ends_the_wait_for_transformed_headers():
    abort = AbortController()

    async def transform(headers):
        abort.abort()
        await trio.sleep_forever()

    adapter = Deferring()
    models = collection(adapter)
    given = ProviderOptions(transform_headers=transform, signal=abort.signal)
    with trio.fail_after(5):
        failed = await failure_of(models.stream(model(), ASKED, given))
    assert (failed.reason, failed.error.error_message) == ("aborted", "This operation was aborted")
    abort = AbortController()
    with trio.fail_after(5), pytest.raises(OperationAbortedError):
        await models.cancel_deferred(model(), HANDLE, attrs.evolve(given, signal=abort.signal))
    assert (adapter.asked, adapter.cancelled) == ([], [])


# --- deferred responses -----------------------------------------------------------------------------------


async def test_a_response_that_is_fetched_later():
    adapter = Deferring()
    models = collection(adapter)
    assert (await models.fetch_deferred(model(), HANDLE)).text == "fetched h1"
    assert (await events_of(models.stream_deferred(model(), HANDLE)))[-1].type == "done"
    await models.cancel_deferred(model(), HANDLE)
    assert adapter.cancelled == [HANDLE]


@pytest.mark.parametrize(
    ("models", "which", "text"),
    [
        (Models(), model(), "Unknown provider: p"),
        (collection(Echo()), model(), "Provider p does not support deferred responses"),
        (collection(Deferring(), key=None), model(), "Provider is not configured: p"),
        (collection(Deferring()), model(type="classifier"), "Model p/m is not a chat model"),
    ],
)
async def test_what_cannot_be_fetched_cannot_be_cancelled(models, which, text):
    assert (await models.fetch_deferred(which, HANDLE)).error_message == text
    with pytest.raises(ModelsError, match=text) as caught:
        await models.cancel_deferred(which, HANDLE)
    assert caught.value.code in ("provider", "auth")


async def test_one_api_of_a_provider_defers_and_another_does_not():
    models = Models(auth_context=collection(Echo())._context)
    models.set_provider(
        Provider("p", api={"some-api": Deferring(), "plain": Echo()}, auth=ProviderAuth(api_key=Placed()))
    )
    plain = model(api="plain")
    text = 'Provider p does not support deferred responses for "plain"'
    assert (await models.fetch_deferred(plain, HANDLE)).error_message == text
    with pytest.raises(ModelsError, match='Provider p cannot cancel deferred responses for "plain"'):
        await models.cancel_deferred(plain, HANDLE)


# --- what there is ----------------------------------------------------------------------------------------


def test_providers_and_models():
    models = collection(Echo())
    other = Provider(
        "q", name="Q", api=Echo(), models=[model(provider="q"), model(provider="q", id="i", type="image")]
    )
    models.set_provider(other)
    assert [provider.id for provider in models.get_providers()] == ["p", "q"]
    assert models.get_provider("q") is other
    assert models.get_provider("r") is None
    assert [(one.provider, one.id) for one in models.get_models()] == [("p", "m"), ("q", "m")]
    assert models.get_models("r") == ()
    assert models.get_model("q", "m") == model(provider="q")
    assert models.get_model("q", "i") is models.get_model("r", "m") is None
    models.delete_provider("p")
    models.delete_provider("p")
    assert models.get_provider("p") is None
    models.clear_providers()
    assert models.get_providers() == ()


def test_a_provider_that_cannot_tell_has_no_models(caplog):
    class Broken(Provider):
        def get_models(self):
            raise OSError

    models = collection(Echo())
    models.set_provider(Broken("q", api=Echo()))
    assert models.get_models("q") == ()
    (record,) = caplog.records
    assert (record.getMessage(), record.exc_info[0]) == ("q cannot tell its models", OSError)
    assert len(models.get_models()) == 1


def test_a_provider_has_an_adapter():
    with pytest.raises(ValueError, match="no adapter"):
        Provider("p", api={})


async def test_an_adapter_is_loaded_when_it_is_asked():
    loaded = []

    def load():
        loaded.append(Echo())
        return loaded[-1]

    models = collection(LazyAdapter(load))
    assert not loaded
    await models.complete(model(), ASKED)
    await models.complete_simple(model(), ASKED)
    assert len(loaded) == 1


async def test_what_is_configured_is_available():
    models = collection(Echo())
    models.set_provider(Provider("q", api=Echo(), models=[model(provider="q")]))
    assert [one.provider for one in await models.get_available()] == ["p"]
    assert await models.get_available("q") == await models.get_available("r") == ()
    check = await models.check_auth("p")
    assert check is not None
    assert (check.type, check.source) == ("api_key", "P_KEY")
    assert await models.check_auth("q") is await models.check_auth("r") is None


async def test_a_credential_may_give_access_to_some_models():
    store = InMemoryCredentialStore({"p": ApiKeyCredential(key="k")})
    asked = []

    def choose(models, credential):
        asked.append(credential)
        return models[:1]

    models = Models(credentials=store)
    both = [model(), model(id="n")]
    models.set_provider(
        Provider("p", api=Echo(), models=both, auth=ProviderAuth(api_key=Placed()), filter_models=choose)
    )
    assert await models.get_available() == (model(),)
    assert asked == [ApiKeyCredential(key="k")]


async def test_an_abort_ends_the_questions_about_keys():
    abort = AbortController()
    abort.abort()
    models = collection(Echo())
    for question in (models.check_auth, models.get_auth, models.get_available):
        with pytest.raises(OperationAbortedError):
            await question("p", signal=abort.signal)


async def test_the_auth_of_a_model_has_its_headers():
    models = collection(Echo(), auth=ProviderAuth(api_key=Placed()))
    found = await models.get_auth(model(headers={"a": "model"}))
    assert found is not None
    assert found.auth.headers == {"B": "auth", "C": "auth", "a": "model"}
    plain = await models.get_auth("p", api_key="mine")
    assert plain is not None
    assert (plain.auth.api_key, plain.auth.headers) == ("mine", {"A": "auth", "B": "auth", "C": "auth"})
    assert await models.get_auth("r") is None


def test_a_done_event_has_the_message_of_the_result():
    assert isinstance(pushed("x", model())._events[-1], StreamDone)
