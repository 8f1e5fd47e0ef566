"""The environment variables in which providers' keys are looked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

ANTHROPIC_AUTH_TOKEN: Final = "ANTHROPIC_AUTH_TOKEN"  # noqa: S105 - the name of a variable

#: By provider; of several the first that is set counts.
KEY_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": (ANTHROPIC_AUTH_TOKEN, "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "baseten": ("BASETEN_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "github-copilot": ("COPILOT_GITHUB_TOKEN",),
    "google": ("GEMINI_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HF_TOKEN",),
    "kimi-coding": ("KIMI_API_KEY",),
    "minimax": ("MINIMAX_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshotai": ("MOONSHOT_API_KEY",),
    "nvidia": ("NVIDIA_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "opencode": ("OPENCODE_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "vercel-ai-gateway": ("AI_GATEWAY_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
}


def find_env_keys(provider: str, env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The variables of a provider that are set, in the request's `env` or in that of the process."""
    return tuple(name for name in KEY_VARIABLES.get(provider, ()) if env_value(name, env))


def env_api_key(provider: str, env: Mapping[str, str] | None = None) -> str | None:
    """The key of a provider from the environment; None if there is none.

    A token that has to be sent in another header than a key is not meant (`ANTHROPIC_AUTH_TOKEN`).
    """
    names = [name for name in find_env_keys(provider, env) if name != ANTHROPIC_AUTH_TOKEN]
    return env_value(names[0], env) if names else None


def env_value(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """A variable of the request, or else of the process; None if it is empty."""
    return (env or {}).get(name) or os.environ.get(name) or None
