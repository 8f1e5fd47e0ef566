"""What differs between the transports of the releases."""

from __future__ import annotations

import ast
from pathlib import Path

import attrs
import pytest

from pi_trio.builtin import TOOLS_1_0_3
from pi_trio.models import dialect as dialect_module
from pi_trio.models.builtin import builtin_models
from pi_trio.models.dialect import DIALECTS, UnknownDialectError, dialect_of
from pi_trio.profile import PROFILES, UnknownProfileError


def test_there_is_a_dialect_for_each_profile():
    assert [profile.release for profile in PROFILES.values()] == list(DIALECTS)
    assert all(dialect_of(name).release == profile.release for name, profile in PROFILES.items())


def test_a_release_and_its_profile_are_one_dialect():
    assert dialect_of("1.0.3") is dialect_of("pi-1.0.3") is DIALECTS["1.0.3"]


def test_a_composite_profile_has_the_dialect_of_its_base():
    assert dialect_of("pi-0.85.0,prepare_next_turn=pi-0.80.2") is DIALECTS["0.85.0"]
    with pytest.raises(UnknownProfileError):
        dialect_of("pi-0.85.0,nothing=pi-0.80.2")


def test_an_unknown_release():
    with pytest.raises(UnknownDialectError, match=r"2\.0.*1\.6\.0"):
        dialect_of("2.0")


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(DIALECTS["1.6.0"].__class__)])
def test_every_field_differs_somewhere(field):
    assert len({getattr(dialect, field) for dialect in DIALECTS.values()}) > 1


def test_every_field_is_read():
    """A field that nobody reads says of a release what does not hold."""
    folder = Path(dialect_module.__file__).parent
    read = {
        node.attr
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("dialect")
    }
    assert {field.name for field in attrs.fields(dialect_module.Dialect)} - read == set()


def test_what_a_release_has_is_what_the_loop_of_that_release_expects():
    for profile in PROFILES.values():
        dialect = DIALECTS[profile.release]
        assert dialect.system_messages == profile.system_messages
        assert dialect.identity == profile.identity


def test_what_is_asked_by_the_name_of_its_release(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    for dialect in ("1.0.3", "pi-1.0.3", DIALECTS["1.0.3"]):
        assert builtin_models(dialect=dialect).get_models() == builtin_models().get_models() != ()


@pytest.mark.parametrize(
    ("dialect", "error"), [("1.0", UnknownDialectError), (None, TypeError), (TOOLS_1_0_3, TypeError)]
)
def test_what_is_no_dialect_is_refused_at_once(dialect, error):
    with pytest.raises(error):
        builtin_models(dialect=dialect)


def test_each_is_shown_by_its_name():
    assert repr(DIALECTS["1.0.3"]) == "Dialect('1.0.3')"
    assert repr(TOOLS_1_0_3) == "ToolDialect('1.0.3')"
    assert repr(PROFILES["pi-1.0.3"]) == "Profile('pi-1.0.3')"
