"""How the tests of the scripted provider ask it, and what they ask it for."""

from __future__ import annotations

from hypothesis import strategies as st

from pi_trio.messages import TextContent, ThinkingContent, ToolCall, UserMessage
from pi_trio.models.scripted import ScriptedProvider, assistant
from pi_trio.models.stream import ModelContext, StreamOptions

from ..strategies import json_values, strings

USER = UserMessage(content="What is 2 + 3?", timestamp=1)
CONTEXT = ModelContext(messages=(USER,))

blocks = st.one_of(
    st.builds(TextContent, text=st.text(max_size=40), text_signature=st.none() | st.just("signed")),
    st.builds(ThinkingContent, thinking=st.text(max_size=40)),
    st.builds(
        ToolCall,
        id=strings,
        name=strings,
        arguments=st.dictionaries(strings, json_values, max_size=3),
        thought_signature=st.none() | st.just("signed"),
    ),
)
responses = st.lists(blocks, max_size=4).map(lambda content: assistant(*content, timestamp=1))


def opened(provider, **options):
    """A request to the provider."""
    return provider.stream(provider.models[0], CONTEXT, StreamOptions(**options))


async def told(provider, **options):
    """The events of one response."""
    async with opened(provider, **options) as stream:
        return [event async for event in stream]


async def message_of(provider, **options):
    async with opened(provider, **options) as stream:
        return await stream.result()


def whole(*steps, **options):
    """A provider that tells each block in one chunk."""
    return ScriptedProvider(steps, token_size=(1000, 1000), **options)
