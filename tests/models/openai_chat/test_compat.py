"""What endpoints can do, by who they are."""

from __future__ import annotations

import pytest

from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.openai_chat.compat import compat_of

from ..modelling import model


def told(dialect=DIALECT_1_6_0, **fields):
    return compat_of(model(**fields), dialect)


def test_an_endpoint_that_nobody_knows_does_all_that_openai_does():
    unknown = told(provider="mine", baseUrl="http://localhost:8080/v1")
    assert unknown.supports_store
    assert unknown.supports_reasoning_effort
    assert unknown.max_tokens_field == "max_completion_tokens"
    assert unknown.thinking_format == "openai"


@pytest.mark.parametrize(
    "fields",
    [
        {"provider": "deepseek"},
        {"baseUrl": "https://api.DeepSeek.com/v1"},
    ],
)
def test_an_endpoint_is_known_by_its_provider_or_its_address(fields):
    deepseek = told(**fields)
    assert (deepseek.supports_store, deepseek.max_tokens_field, deepseek.thinking_format) == (
        False, "max_tokens", "deepseek",
    )  # fmt: skip
    assert deepseek.requires_reasoning_content_on_assistant_messages


@pytest.mark.parametrize(
    ("provider", "format_", "effort"),
    [
        ("zai", "zai", False), ("zai-coding-cn", "zai", False), ("together", "together", False),
        ("ant-ling", "ant-ling", False), ("openrouter", "openrouter", True), ("xai", "openai", False),
        ("moonshotai", "openai", False), ("nvidia", "openai", False), ("cerebras", "openai", True),
        ("cloudflare-ai-gateway", "openai", False), ("groq", "openai", True),
    ],
)  # fmt: skip
def test_providers(provider, format_, effort):
    known = told(provider=provider)
    assert (known.thinking_format, known.supports_reasoning_effort) == (format_, effort)


@pytest.mark.parametrize(
    ("dialect", "roles"),
    [
        (DIALECT_0_85_0, [True, True, False, True]),
        (DIALECT_1_0_3, [True, True, False, True]),
        (DIALECT_1_6_0, [True, False, False, False]),
    ],
)
def test_who_takes_the_role_of_a_developer(dialect, roles):
    asked = [
        {"provider": "openai"},
        {"provider": "mine"},
        {"provider": "openrouter"},
        {"provider": "openrouter", "id": "anthropic/claude"},
    ]
    assert [told(dialect, **fields).supports_developer_role for fields in asked] == roles


def test_claude_behind_openrouter_wants_to_be_told_what_to_cache():
    assert told(provider="openrouter", id="anthropic/claude").cache_control_format == "anthropic"
    assert told(provider="openrouter", id="openai/gpt").cache_control_format is None


def test_the_catalog_wins_key_by_key():
    compat = {"supportsStore": False, "maxTokensField": "max_tokens", "thinkingFormat": None, "unheardOf": 1}
    given = told(provider="openai", compat={**compat, "supportsOpenAIGrammarTools": True})
    assert (given.supports_store, given.max_tokens_field, given.thinking_format) == (
        False,
        "max_tokens",
        "openai",
    )
    assert given.supports_openai_grammar_tools
    assert given.supports_developer_role


def test_what_a_release_does_not_know_it_does_not_heed():
    compat = {
        "promptCacheKeyMode": "disabled",
        "supportsMidConvoSystemMessages": True,
        "deferredToolsMode": "kimi",
    }
    old, middle, new = (
        told(dialect, compat=compat) for dialect in (DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0)
    )
    assert [each.prompt_cache_key_mode for each in (old, middle, new)] == ["auto", "auto", "disabled"]
    assert [each.supports_mid_convo_system_messages for each in (old, middle, new)] == [False, True, True]
    assert [each.deferred_tools_mode for each in (old, middle, new)] == ["kimi", None, None]
