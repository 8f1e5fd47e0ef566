"""The proxy's server, asked by bytes: by good clients, by bad ones, and by those that go away."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, suppress
from functools import partial
from random import Random

import h11
import pytest
import trio
import trio.testing

from pi_trio.codec import unstructure
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.proxy import server as proxy_server
from pi_trio.models.proxy.connection import Limits
from pi_trio.models.proxy.server import BadTokenError, NotOnLoopbackError, Offer, Served, serve_proxy
from pi_trio.models.scripted import DEFAULT_MODEL, ScriptedProvider, assistant, tool_call
from pi_trio.models.stream import ResponseStream

from .bytes_told import read

TOKEN = "t0ken"
HELLO = {"role": "user", "content": "Hello", "timestamp": 1}
ASKED = {"model": unstructure(DEFAULT_MODEL), "context": {"messages": [HELLO]}, "options": {}}


class Server:
    """A proxy that runs, with what became of its requests."""

    def __init__(self):
        self.port = 0
        self.served = []
        self._changed = trio.lowlevel.ParkingLot()

    def note(self, served):
        self.served.append(served)
        self._changed.unpark_all()

    async def connect(self):
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    async def ask(self, asked=None, **head):
        """The status and the body of an answer."""
        return await self.send(request(ASKED if asked is None else asked, **head))

    async def send(self, data):
        async with await self.connect() as stream:
            await stream.send_all(data)
            return await answer(stream)

    async def over(self, number=1):
        """Wait until so many requests are over."""
        while len(self.served) < number:
            await self._changed.park()
        return self.served[number - 1]


def request(asked=ASKED, *, path="/api/stream", method="POST", **fields):
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    fields = {"authorization": f"Bearer {TOKEN}", "content_length": len(body), **fields}
    lines = [f"{method} {path} HTTP/1.1", "host: proxy"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def answer(stream):
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    http.send(h11.EndOfMessage())
    head, body = None, b""
    while True:
        event = http.next_event()
        match event:
            case h11.Response():
                head = event
            case h11.Data():
                body += bytes(event.data)
            case h11.EndOfMessage():
                return head.status_code, body
            case h11.NEED_DATA:
                http.receive_data(await stream.receive_some())


@asynccontextmanager
async def serving(ask=None, *, model=DEFAULT_MODEL, **options):
    server = Server()
    offer = Offer(model, ask or ScriptedProvider([assistant("Hello!")] * 99).stream)
    async with trio.open_nursery() as nursery:
        start = partial(serve_proxy, [offer], token=TOKEN, on_served=server.note, **options)
        listeners = await nursery.start(start)
        server.port = listeners[0].socket.getsockname()[1]
        yield server
        nursery.cancel_scope.cancel()


def text_of(body):
    return "".join(event.delta for event in read(body) if event.type == "text_delta")


# --- good clients -----------------------------------------------------------------------------------------


async def test_a_response():
    async with serving() as server:
        status, body = await server.ask()
        assert (status, text_of(body)) == (200, "Hello!")
        assert await server.over() == Served(model="scripted/scripted-1", status=200, ending="stop")


async def test_the_model_is_told_what_the_client_says():
    asked = []

    def ask(model, context, options):
        asked.append((model, context, options))
        return ScriptedProvider([assistant("Yes")]).stream(model, context, options)

    options = {
        "temperature": 0.5, "samplingParams": {"top_k": 3}, "maxTokens": 100, "reasoning": "high",
        "cacheRetention": "long", "sessionId": "s", "disableContinuation": True, "metadata": {"user": "u"},
        "headers": {"X-Mine": "1", "Authorization": "Bearer mine", "Host": "elsewhere", "x-none": None},
        "transport": "sse", "thinkingBudgets": {"high": 9}, "maxRetryDelayMs": 5,
    }  # fmt: skip
    context = {"systemPrompt": "Be brief.", "messages": [HELLO], "tools": []}
    model = {**ASKED["model"], "baseUrl": "http://elsewhere.example", "headers": {"x": "y"}}
    async with serving(ask) as server:
        assert (await server.ask({"model": model, "context": context, "options": options}))[0] == 200
    ((model, context, given),) = asked
    assert model == DEFAULT_MODEL  # not that of the client, with an address of its own
    assert (context.system_prompt, context.tools, context.messages[0].content) == ("Be brief.", (), "Hello")
    assert given.headers == {"X-Mine": "1", "x-none": None}
    told = {
        name: getattr(given, name) for name in ("temperature", "sampling_params", "max_tokens", "reasoning")
    }
    assert told == {
        "temperature": 0.5,
        "sampling_params": {"top_k": 3},
        "max_tokens": 100,
        "reasoning": "high",
    }
    assert (given.cache_retention, given.session_id, given.disable_continuation) == ("long", "s", True)
    assert (given.metadata, given.transport, given.thinking_budgets) == ({"user": "u"}, "sse", {"high": 9})
    assert (given.max_retry_delay_ms, given.api_key) == (5, None)


async def test_many_at_once():
    async with serving() as server, trio.open_nursery() as nursery:
        answers = []

        async def one():
            answers.append(await server.ask())

        for _ in range(20):
            nursery.start_soon(one)
    assert [(status, text_of(body)) for status, body in answers] == [(200, "Hello!")] * 20


async def test_a_body_may_come_in_chunks_and_wait_to_be_asked_for():
    body = json.dumps(ASKED).encode()
    head = request(b"", content_length=None, transfer_encoding="chunked", expect="100-continue")
    async with serving() as server, await server.connect() as stream:
        await stream.send_all(head)
        assert b"HTTP/1.1 100" in await stream.receive_some()
        for at in range(0, len(body), 50):
            piece = body[at : at + 50]
            await stream.send_all(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await stream.send_all(b"0\r\n\r\n")
        assert text_of((await answer(stream))[1]) == "Hello!"


async def test_a_page_that_is_named_may_ask():
    async with serving(origins=["https://app.example"]) as server:
        preflight = await server.ask(b"", method="OPTIONS", authorization=None, origin="https://app.example")
        assert preflight == (204, b"")
        async with await server.connect() as stream:
            await stream.send_all(request(origin="https://app.example"))
            head = await stream.receive_some()
        assert b"access-control-allow-origin: https://app.example\r\n" in head.lower()


# --- responses that fail ----------------------------------------------------------------------------------


def pushed(*events, end=True):
    """A stream function that gives these events."""

    def ask(model, context, options):
        stream = ResponseStream()
        for event in events:
            stream.push(event)
        if end:
            stream.end()
        return stream

    return ask


def begun():
    builder = ResponseBuilder(DEFAULT_MODEL)
    return [builder.start(), builder.text_start(), builder.text_delta("He")]


async def test_a_stream_without_a_result():
    async with serving(pushed(*begun())) as server:
        *_, event = read((await server.ask())[1])
        assert event.error.error_message == "Stream ended without a result"
        assert event.error.text == "He"


async def test_a_result_that_no_event_has_told():
    message = assistant("All of it", tool_call("add"), stop_reason="toolUse")

    def ask(model, context, options):
        stream = ResponseStream()
        stream.end(message)
        return stream

    async with serving(ask) as server:
        (event,) = read((await server.ask())[1])
        assert (event.type, event.reason) == ("done", "toolUse")


@pytest.mark.parametrize("late", [False, True])
async def test_a_stream_function_that_raises(late, caplog):
    async def later(model, context, options):
        raise ZeroDivisionError("with s3cret")

    def at_once(model, context, options):
        raise ZeroDivisionError("with s3cret")

    async with serving(later if late else at_once) as server:
        _, body = await server.ask()
        (event,) = read(body)
        assert event.error.error_message == "the model's stream has failed: ZeroDivisionError"
        assert b"s3cret" not in body
        assert (await server.ask())[0] == 200
    assert "a model's stream has failed" in caplog.text


async def test_a_generator_is_closed_where_it_was_read():
    closed = trio.Event()

    class Generated:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *error):
            assert closed.is_set()

        async def result(self):
            raise AssertionError

        async def __aiter__(self):
            try:
                with trio.CancelScope():
                    for event in [*begun(), pushed_done()]:
                        yield event
                    yield event
            finally:
                closed.set()

    async with serving(lambda *_: Generated()) as server:
        assert read((await server.ask())[1])[-1].type == "done"


def pushed_done():
    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    return builder.done("stop")


# --- clients that go --------------------------------------------------------------------------------------


class Held:
    """A stream function whose response never ends; it tells what is done to it."""

    def __init__(self):
        self.aborted = trio.Event()
        self.left = trio.Event()

    @asynccontextmanager
    async def __call__(self, model, context, options):
        options.signal.on_abort(self.aborted.set)
        stream = ResponseStream()
        for event in begun():
            stream.push(event)
        try:
            yield stream
        finally:
            self.left.set()


async def test_a_client_that_goes_takes_its_request_along():
    held = Held()
    async with serving(held) as server:
        async with await server.connect() as stream:
            await stream.send_all(request())
            assert await stream.receive_some()
        await held.aborted.wait()
        await held.left.wait()
        assert (await server.over()).ending == "the client has gone"


async def test_a_client_that_sends_no_more_is_answered():
    goes_on = trio.Event()

    class Late(ResponseStream):
        async def __anext__(self):
            await goes_on.wait()
            return await super().__anext__()

    def ask(model, context, options):
        stream = Late()
        for event in [*begun(), builder.text_end(), builder.done("stop")]:
            stream.push(event)
        return stream

    builder = ResponseBuilder(DEFAULT_MODEL)
    for step in (builder.start, builder.text_start, lambda: builder.text_delta("He")):
        step()
    async with serving(ask) as server, await server.connect() as stream:
        await stream.send_all(request())
        await stream.send_eof()
        said = b""
        while said.count(b":\n\n") < 2:  # it is asked whether it is still there
            said += await stream.receive_some()
        goes_on.set()
        while more := await stream.receive_some():
            said += more
        assert b'"type":"done"' in said
        assert said.endswith(b"0\r\n\r\n")
        assert (await server.over()).ending == "stop"


async def test_a_client_that_goes_in_silence_is_missed():
    """It has read all that there was, so that its end looks like that of one who waits."""
    held = Held()
    async with serving(held) as server:
        async with await server.connect() as stream:
            await stream.send_all(request())
            said = b""
            while b'"He"' not in said:
                said += await stream.receive_some()
            await trio.testing.wait_all_tasks_blocked(0.05)
        await held.aborted.wait()
        assert (await server.over()).ending == "the client has gone"


async def test_a_client_that_takes_nothing_is_given_up(mock_clock):
    class Endless(ResponseStream):
        async def __anext__(self):
            await trio.lowlevel.checkpoint()
            return builder.text_delta("x" * 100_000)

    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    builder.text_start()
    async with serving(lambda *_: Endless()) as server, await server.connect() as stream:
        await stream.send_all(request())
        await trio.testing.wait_all_tasks_blocked(0.05)
        mock_clock.jump(Limits().patience + 1)
        assert (await server.over()).ending == "the client has gone"


async def test_a_client_may_go_while_a_provider_has_a_nursery(caplog):
    """What ends the telling is a cancellation, which finds its way through."""
    left = trio.Event()

    class Nested(ResponseStream):
        async def __aenter__(self):
            self._inside = trio.open_nursery()
            (await self._inside.__aenter__()).start_soon(trio.sleep_forever)
            return self

        async def __aexit__(self, *error):
            left.set()
            return await self._inside.__aexit__(*error)

        async def __anext__(self):
            await trio.lowlevel.checkpoint()
            return builder.text_delta("x" * 100_000)

    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    builder.text_start()
    async with serving(lambda *_: Nested()) as server:
        async with await server.connect() as stream:
            await stream.send_all(request())
            assert await stream.receive_some()
        await left.wait()
        assert (await server.over()).ending == "the client has gone"
    assert not caplog.records


async def test_the_end_of_the_server_ends_what_it_tells():
    held = Held()
    async with serving(held) as server:
        stream = await server.connect()
        await stream.send_all(request())
        assert await stream.receive_some()
    await held.left.wait()
    await stream.aclose()


# --- clients that mean no good ----------------------------------------------------------------------------


async def lives(server):
    assert (await server.ask())[0] == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ({"authorization": None}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": f"Bearer {TOKEN}", "Authorization": "Bearer other"}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "https://evil.example", "method": "OPTIONS"}, 403),
        ({"path": "/"}, 404),
        ({"method": "GET"}, 405),
        ({"method": "OPTIONS"}, 405),
        ({"content_length": "33554433"}, 413),
        ({"content_length": "-1"}, 400),
        ({"transfer_encoding": "chunked"}, 400),
        ({"x_much": "x" * 70_000}, 431),
    ],
)  # fmt: skip
async def test_a_refused_head(head, status):
    async with serving() as server:
        found, body = await server.ask(**head)
        assert (found, list(json.loads(body))) == (status, ["error"])
        assert TOKEN.encode() not in body
        await lives(server)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "expected JSON"),
        (b"{", "expected JSON"),
        (b"\xff{}", "UTF-8"),
        (b"[" * 100_000, "that is no request"),
        (b"[]", "expected an object"),
        ({**ASKED, "model": None}, "model: expected an object"),
        ({**ASKED, "model": {"provider": "a"}}, "model.id: expected string"),
        ({**ASKED, "context": {}}, "context.messages: expected"),
        ({**ASKED, "context": {"messages": [{"role": "user"}]}}, "context.messages[0]"),
        ({**ASKED, "options": {"reasoning": "wildly"}}, "options.reasoning: expected one of off"),
        ({**ASKED, "options": {"temperature": "hot"}}, "options.temperature: expected a number"),
        ({**ASKED, "options": {"maxTokens": 1.5}}, "options.maxTokens: expected a whole number"),
        ({**ASKED, "options": {"samplingParams": {"model": "x"}}}, "options.samplingParams.model: expected nothing"),
        ({**ASKED, "options": {"headers": {"a": 1}}}, "options.headers.a: expected a string"),
    ],
)  # fmt: skip
async def test_a_body_that_makes_no_request(body, text):
    async with serving() as server:
        status, said = await server.ask(body)
        assert status == 400
        assert text in json.loads(said)["error"]
        await lives(server)


async def test_a_model_that_is_not_offered():
    async with serving() as server:
        asked = {**ASKED, "model": {**ASKED["model"], "id": "scripted-2"}}
        assert await server.ask(asked) == (
            404,
            b'{"error":"scripted/scripted-2 is not offered here; there is scripted/scripted-1"}',
        )


async def test_a_body_that_is_longer_than_it_may_be():
    async with serving(limits=Limits(body=1000)) as server:
        chunk = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
        data = request(b"", content_length=None, transfer_encoding="chunked") + chunk * 2
        status, body = await server.send(data)
        assert (status, json.loads(body)["error"]) == (413, "the body is longer than 1000 bytes")
        await lives(server)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"POST /api/st",
        request()[:-10],
        request(b"", content_length=None, transfer_encoding="chunked") + b"5\r\nab",
    ],
)  # fmt: skip
async def test_who_falls_silent_is_told_so_after_a_while(data, mock_clock):
    async with serving() as server, await server.connect() as stream:
        await stream.send_all(data)
        await trio.testing.wait_all_tasks_blocked(0.05)
        mock_clock.jump(Limits().patience + 1)
        assert (await answer(stream))[0] == 408
        await lives(server)


async def test_who_sends_ever_so_slowly_has_a_limit(mock_clock):
    async with serving() as server, await server.connect() as stream:
        await stream.send_all(request()[:-100])
        for _ in range(16):
            await stream.send_all(b" ")
            await trio.testing.wait_all_tasks_blocked(0.01)
            mock_clock.jump(Limits().patience - 1)
        assert (await answer(stream))[0] == 408


@pytest.mark.parametrize("data", [b"", b"POST /api/st", request()[:-10]])
async def test_who_goes_in_the_middle(data):
    async with serving() as server:
        async with await server.connect() as stream:
            await stream.send_all(data)
        async with await server.connect() as stream:
            await stream.send_all(data)
            await stream.send_eof()
            assert b"200" not in await stream.receive_some()
        await lives(server)


@pytest.mark.parametrize(
    "data", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\r\n\r\nhello\r\n\r\n", bytes(5000)]
)
async def test_who_speaks_something_else(data):
    async with serving() as server:
        assert (await server.send(data))[0] == 400
        await lives(server)


async def test_more_connections_than_there_may_be():
    async with serving(limits=Limits(connections=2)) as server:
        idle = [await server.connect() for _ in range(2)]
        for stream in idle:
            await stream.send_all(request()[:-10])
        await trio.testing.wait_all_tasks_blocked(0.05)
        status, body = await server.ask()
        assert (status, json.loads(body)["error"]) == (503, "too many connections; try again later")
        for stream in idle:
            await stream.aclose()
        status = 503
        while status == 503:
            status, _ = await server.ask()
        assert status == 200


@pytest.mark.parametrize("data", [b"", b"POST /api/st", request(authorization="Bearer wrong")])
async def test_who_shows_no_token_keeps_nobody_out(data):
    async with serving(limits=Limits(connections=3)) as server:
        async with await server.connect() as known:
            await known.send_all(request()[:-10])
            silent = [await server.connect() for _ in range(8)]
            for stream in silent:
                with suppress(trio.BrokenResourceError):
                    await stream.send_all(data)
            await trio.testing.wait_all_tasks_blocked(0.05)
            await lives(server)
            await known.send_all(request()[-10:])
            assert (await answer(known))[0] == 200
        for stream in silent:
            await stream.aclose()


async def test_a_head_has_a_few_seconds_however_it_comes(mock_clock):
    async with serving() as server, await server.connect() as stream:
        for byte in b"POST":
            await stream.send_all(bytes([byte]))
            await trio.testing.wait_all_tasks_blocked(0.01)
            mock_clock.jump(Limits().head_time / 3)
        assert (await answer(stream))[0] == 408


async def test_it_listens_on_the_loopback_only():
    for host in ("0.0.0.0", "::"):
        with pytest.raises(NotOnLoopbackError):
            await serve_proxy([], token=TOKEN, host=host)


@pytest.mark.parametrize("token", ["", " ", "a b", "ü", "a\n"])
async def test_it_wants_a_token(token):
    with pytest.raises(BadTokenError):
        await serve_proxy([], token=token)


def test_no_repr_shows_the_token():
    fields = {"offers": {}, "origins": frozenset(), "limits": Limits(), "on_served": print}
    assert TOKEN not in repr(proxy_server._Server(token=TOKEN.encode(), **fields))


async def test_damaged_requests_do_no_damage():
    chance = Random(1)
    whole = request()
    async with serving() as server:
        statuses = set()
        for _ in range(300):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 6)):
                at = chance.randrange(len(data))
                data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
            async with await server.connect() as stream:
                await stream.send_all(data)
                await stream.send_eof()
                said = b""
                with suppress(trio.BrokenResourceError):
                    while more := await stream.receive_some():
                        said += more
            if said:
                statuses.add(int(said.split()[1]))
        assert {400, 401, 404} <= statuses <= {200, 400, 401, 403, 404, 405, 413, 501}
        await lives(server)
