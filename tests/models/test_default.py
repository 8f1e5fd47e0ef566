"""The default stream function: embedded at first, then what a program sets, or none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pi_trio.errors import PiTrioError
from pi_trio.messages import Model
from pi_trio.models import default
from pi_trio.models.default import (
    NoStreamFunctionError,
    embedded_provider,
    embedded_stream,
    get_default_stream_fn,
    set_default_stream_fn,
)
from pi_trio.models.scripted import NOTHING_QUEUED, ScriptedProvider, assistant
from pi_trio.models.stream import ModelContext, StreamOptions


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch):
    monkeypatch.setattr(default, "_default", embedded_stream)
    embedded_provider.cache_clear()
    yield
    embedded_provider.cache_clear()


async def answer_of(stream_fn):
    async with stream_fn(Model.unknown(), ModelContext(messages=()), StreamOptions()) as stream:
        return await stream.result()


async def test_embedded_provider_answers_at_first():
    assert (await answer_of(get_default_stream_fn())).error_message == NOTHING_QUEUED
    assert embedded_provider().state.call_count == 1


async def test_who_forgot_the_stream_function_is_told_what_to_do(caplog):
    await answer_of(get_default_stream_fn())
    assert [record.name for record in caplog.records] == ["pi_trio"]
    assert "give the agent a stream_fn" in caplog.text


async def test_embedded_provider_can_be_given_a_script(caplog):
    embedded_provider().set_responses([assistant("Hello")])
    assert (await answer_of(get_default_stream_fn())).content == assistant("Hello").content
    assert not caplog.records


async def test_what_is_set_is_the_default():
    provider = ScriptedProvider([assistant("Mine")])
    set_default_stream_fn(provider.stream)
    assert get_default_stream_fn() == provider.stream
    assert (await answer_of(get_default_stream_fn())).content == assistant("Mine").content
    assert embedded_provider().state.call_count == 0


def test_none_takes_the_default_away():
    set_default_stream_fn(None)
    with pytest.raises(NoStreamFunctionError) as caught:
        get_default_stream_fn()
    assert str(caught.value) == (
        "No default stream function configured. Pass streamFn explicitly or call setDefaultStreamFn()."
    )
    assert isinstance(caught.value, PiTrioError)
    assert isinstance(caught.value, RuntimeError)


def test_the_embedded_one_can_be_set_again():
    set_default_stream_fn(None)
    set_default_stream_fn(embedded_stream)
    assert get_default_stream_fn() is embedded_stream


def test_import_does_not_load_the_scripted_provider():
    program = "import sys, pi_trio.models.default; sys.exit('pi_trio.models.scripted' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
