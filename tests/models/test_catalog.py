"""Models as data, and the collection of those that come with the package."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from pi_trio.codec import unstructure
from pi_trio.errors import CodecError
from pi_trio.models.auth import NO_KEY
from pi_trio.models.builtin import ADAPTERS, builtin_adapter, builtin_models, builtin_providers
from pi_trio.models.catalog import builtin_catalog, load_models
from pi_trio.models.collection import Models
from pi_trio.models.credentials import InMemoryCredentialStore, OAuthCredential
from pi_trio.models.dialect import DIALECT_1_6_0
from pi_trio.models.models_error import ModelsError
from pi_trio.models.thinking import supported_thinking_levels
from pi_trio.timestamps import now

from ..environments import CHECKOUT
from .modelling import context, model
from .providing import Variables


def entry(**fields: Any) -> dict[str, Any]:
    return {**unstructure(model()), **fields}


def test_entries_are_found_however_they_are_grouped():
    one, two = entry(), entry(id="n", thinkingLevelMap={"off": None})
    assert load_models(one) == (model(),)
    assert load_models([one, [two]]) == load_models({"some-api": {"chat:m": one}, "more": [two]})
    assert [found.id for found in load_models([one, two])] == ["m", "n"]
    assert load_models({}) == load_models([]) == ()


def test_what_is_no_chat_model_is_passed_over():
    classifier = {"id": "c", "api": "a", "type": "classifier"}
    assert load_models([classifier, entry(type="chat")]) == (model(type="chat"),)


@pytest.mark.parametrize(
    ("value", "path"),
    [(5, ""), ({"a": {"b": "x"}}, "a.b"), ([entry(), None], "[1]"), ({"a": [entry(cost=1)]}, "a[0].cost")],
)
def test_what_is_no_model_is_named(value, path):
    with pytest.raises(CodecError) as caught:
        load_models(value)
    assert caught.value.path == path


def test_an_entry_survives_as_it_is():
    for models in builtin_catalog().values():
        for one in models:
            assert load_models(unstructure(one)) == (one,)


@pytest.mark.parametrize("provider", builtin_providers(), ids=lambda provider: provider.id)
def test_the_models_of_a_provider(provider):
    ids = [one.id for one in provider.get_models()]
    assert len(set(ids)) == len(ids) > 2
    for one in provider.get_models():
        assert one.provider == provider.id
        assert one.api in ADAPTERS
        assert 0 < one.max_tokens <= one.context_window
        assert supported_thinking_levels(one, DIALECT_1_6_0)
        assert one.base_url.startswith(("https://", "http://localhost"))


def test_the_collection_knows_them_all():
    models = builtin_models()
    assert {one.provider for one in models.get_models()} == set(builtin_catalog())
    assert len(models.get_models()) == sum(map(len, builtin_catalog().values())) >= 40
    assert models.get_model("anthropic", "claude-opus-5") is not None


def test_a_model_that_there_has_to_be():
    models = builtin_models()
    found = models.require_model("anthropic", "claude-opus-5")
    assert (
        found is models.require_model("anthropic/claude-opus-5") is models.get_model(found.provider, found.id)
    )
    routed = next(one for one in models.get_models("openrouter") if "/" in one.id)
    assert models.require_model("openrouter", routed.id) is models.require_model(f"openrouter/{routed.id}")


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        (("anthropic", "claude-sonet-4-5"), "did you mean anthropic/claude-sonnet-4-5"),
        (("anthropic/claude-sonet-4-5",), "did you mean anthropic/claude-sonnet-4-5"),
        (("claude-sonnet-4-5",), r"did you mean anthropic/claude-sonnet-4-5\?"),
        (("openai", "zzz"), "openai has no model 'zzz'; known are: openai/"),
        (("nobody/nothing",), "it is named PROVIDER/ID, of one of: anthropic, "),
    ],
)
def test_a_model_that_there_is_not_is_refused_with_those_that_come_near(ids, text):
    with pytest.raises(ModelsError, match=text):
        builtin_models().require_model(*ids)
    with pytest.raises(ModelsError, match="no provider that has models was added"):
        Models().require_model(*ids)


async def test_what_is_available_without_any_key():
    available = await builtin_models(auth_context=Variables()).get_available()
    assert {one.provider for one in available} == {"ollama"}


@pytest.mark.parametrize(
    ("provider", "variables", "key", "headers"),
    [
        ("anthropic", {"ANTHROPIC_API_KEY": "k"}, "k", None),
        ("anthropic", {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_OAUTH_TOKEN": "o"}, "o", None),
        (
            "anthropic", {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"},
            None, {"Authorization": "Bearer t"},
        ),
        ("openai", {"OPENAI_API_KEY": "k"}, "k", None),
        ("groq", {"GROQ_API_KEY": "k"}, "k", None),
        ("openrouter", {"OPENROUTER_API_KEY": "k"}, "k", None),
        ("ollama", {}, NO_KEY, None),
        ("ollama", {"OLLAMA_API_KEY": "k"}, "k", None),
    ],
)  # fmt: skip
async def test_the_keys_of_providers(provider, variables, key, headers):
    found = await builtin_models(auth_context=Variables(**variables)).get_auth(provider)
    assert found is not None
    assert (found.auth.api_key, found.auth.headers) == (key, headers)


async def test_a_token_may_be_given_or_stored():
    nothing = builtin_models(auth_context=Variables())
    assert await nothing.get_auth("openai-codex") is None
    given = await nothing.get_auth("openai-codex", api_key="token")
    assert given is not None
    assert given.auth.api_key == "token"
    good = OAuthCredential(access="a", refresh="r", expires=now() + 3_600_000)
    old = OAuthCredential(access="a", refresh="r", expires=0)
    models = builtin_models(credentials=InMemoryCredentialStore({"openai-codex": good, "anthropic": old}))
    stored = await models.get_auth("openai-codex")
    assert stored is not None
    assert stored.auth.api_key == "a"
    with pytest.raises(ModelsError, match="store a new one"):
        await models.get_auth("anthropic")


def test_an_api_without_an_adapter():
    with pytest.raises(KeyError):
        builtin_adapter("unheard-of")


async def test_a_missing_extra_is_one_clear_line(monkeypatch):
    from pi_trio.models import builtin

    def import_module(name):
        raise ModuleNotFoundError("No module named 'httpx'", name="httpx")

    monkeypatch.setattr(builtin, "import_module", import_module)
    models = builtin_models(auth_context=Variables(GROQ_API_KEY="k"))
    (which, *_) = models.get_models("groq")
    answer = await models.complete(which, context())
    assert answer.error_message == "asking real models needs httpx: pip install 'pi_trio[models]'"


async def test_another_missing_module_is_a_fault(monkeypatch):
    from pi_trio.models import builtin

    monkeypatch.setitem(builtin.ADAPTERS, "openai-completions", ("nowhere", "Nothing"))
    models = builtin_models(auth_context=Variables())
    (which, *_) = models.get_models("ollama")
    answer = await models.complete(which, context())
    assert "pi_trio.models.nowhere" in (answer.error_message or "")


def test_a_collection_is_made_without_the_extra():
    code = (
        "import sys\n"
        "for name in ('httpx', 'trio_websocket', 'zstandard'): sys.modules[name] = None\n"
        "from pi_trio.models.builtin import builtin_models\n"
        "print(len(builtin_models().get_models()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, text=True, capture_output=True, check=True
    )
    assert int(done.stdout) >= 40
