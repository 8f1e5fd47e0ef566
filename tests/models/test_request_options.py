"""The options that an adapter is given."""

from __future__ import annotations

import attrs

from pi_trio.models.request_options import ProviderOptions, provider_options
from pi_trio.models.stream import StreamOptions

SECRET = "sk-very-secret"


def test_the_options_of_an_agent_keep_their_names():
    given = StreamOptions(api_key=SECRET, reasoning="high", session_id="s", max_retry_delay_ms=5)
    made = provider_options(given)
    for field in attrs.fields(StreamOptions):
        assert getattr(made, field.name) is getattr(given, field.name)


def test_options_of_a_provider_stay_as_they_are():
    options = ProviderOptions(temperature=0.5)
    assert provider_options(options) is options
    assert provider_options(None).transport is None


def test_nothing_secret_is_in_a_repr():
    headers = {"authorization": SECRET}
    options = ProviderOptions(api_key=SECRET, headers=headers, env={"KEY": SECRET}, provider={"key": SECRET})
    assert SECRET not in repr(options)
