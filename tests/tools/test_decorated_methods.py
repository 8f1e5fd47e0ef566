"""Methods as tools: taken from an instance, they are tools of that instance."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any

import attrs
import pytest

from pi_trio.tools.context import ToolContext
from pi_trio.tools.decorated import FunctionTool, tool
from pi_trio.tools.validate import InvalidArguments

from .executing import execute, say


class Library:
    """A database, and what a model may do with it."""

    def __init__(self, **shelves: str) -> None:
        self.shelves = shelves

    @tool
    async def find(self, title: str, context: ToolContext) -> str:
        """Find a book.

        Args:
            title: of the book.
        """
        context.update("looking")
        return self.shelves[title]

    @tool(name="put_back")
    def put(self, title: str, shelf: str = "floor") -> None:
        """Put a book back."""
        assert threading.current_thread().name == "tool put_back"
        self.shelves[title] = shelf

    async def count(self) -> str:
        """Count the books."""
        return str(len(self.shelves))

    @staticmethod
    @tool
    async def greet(name: str) -> str:
        return f"Welcome, {name}"


async def test_each_instance_has_its_own_tools():
    here, there = Library(Emma="A1"), Library(Emma="B2")
    assert isinstance(here.find, FunctionTool)
    assert await say(here.find, {"title": "Emma"}) == "A1"
    assert await say(there.find, {"title": "Emma"}) == "B2"
    assert await say(here.put, {"title": "Ulysses"}) == "Done."
    assert (here.shelves, there.shelves) == ({"Emma": "A1", "Ulysses": "floor"}, {"Emma": "B2"})


def test_what_the_model_is_told_of_a_method():
    found = Library().find
    assert (found.name, found.description) == ("find", "Find a book.")
    assert found.parameters == {
        "type": "object",
        "properties": {"title": {"type": "string", "description": "of the book."}},
        "required": ["title"],
        "additionalProperties": False,
    }
    assert found.parameters is Library.find.parameters  # compiled once, for all instances


async def test_it_is_still_a_method():
    library = Library(Emma="A1")
    heard: list[Any] = []
    assert await library.find("Emma", ToolContext(on_update=heard.append)) == "A1"
    assert await library.find(context=ToolContext(), title="Emma") == "A1"
    assert await Library.find(library, "Emma", ToolContext()) == "A1"
    assert len(heard) == 1


async def test_a_bound_method():
    counter = tool(name="count_books", description="How many there are.")(Library(a="1", b="2").count)
    assert (counter.name, counter.description) == ("count_books", "How many there are.")
    assert await say(counter) == "2"
    assert tool(Library().count).description == "Count the books."


class Drawer:
    @tool(parameters={"type": "object"})
    async def put(self, **things: int) -> str:
        return repr(things)

    async def take(this, **things: int) -> str:  # noqa: N805
        return repr(things)


@pytest.mark.parametrize(
    ("method", "instance"),
    [(Drawer().put, "self"), (tool(parameters={"type": "object"})(Drawer().take), "this")],
)
async def test_an_argument_cannot_have_the_name_of_the_instance(method, instance):
    with pytest.raises(InvalidArguments, match=rf"\n  - {instance}: there is no such parameter$"):
        await execute(method, {instance: 1})
    assert await say(method, {"that": 1}) == "{'that': 1}"


async def test_a_static_method():
    assert await say(Library.greet, {"name": "Ada"}) == "Welcome, Ada"
    assert await say(Library().greet, {"name": "Ada"}) == "Welcome, Ada"


async def test_a_tool_in_a_class_that_is_no_method_stays_as_it_is():
    @tool
    async def outside(name: str) -> str:
        return name

    class Holder:
        kept = outside

    assert Holder().kept is outside


async def test_a_method_without_its_instance():
    with pytest.raises(TypeError, match="Tool find is a method: take it from an instance"):
        await execute(Library.find, {"title": "Emma"})


async def test_a_variant_of_a_method():
    found = attrs.evolve(Library(Emma="A1").find, name="search")
    assert await say(found, {"title": "Emma"}) == "A1"


async def test_an_abstract_method():
    class Base(ABC):
        @tool
        @abstractmethod
        async def look(self, title: str) -> str: ...

    class Real(Base):
        @tool
        async def look(self, title: str) -> str:
            return title

    with pytest.raises(TypeError, match="abstract"):
        Base()  # type: ignore[abstract]
    assert await Real().look("a") == "a"


def test_methods_are_equal_as_methods_are():
    class Library:
        @tool
        async def look(self, title: str) -> str:
            return title

    one, other = Library(), Library()
    assert one.look == one.look
    assert len({one.look, one.look}) == 1
    assert one.look != other.look
    assert one.look != Library.look
    assert one.look != attrs.evolve(one.look, description="Another one.")
    assert one.look.__name__ == "look"


async def test_a_static_method_is_bound_to_nothing():
    class Rules:
        @staticmethod
        @tool
        def words(text: str) -> int:
            return len(text.split())

    assert Rules().words is Rules.words
    assert Rules().words("a b") == 2
    assert await say(Rules().words, {"text": "a b c"}) == "3"
