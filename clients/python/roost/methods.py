"""Roost's methods by their names: `roost.store.count(…)` calls the method store.count. methods.pyi has their types.

A name of Python's own has an underscore behind it (`roost.store.import_`), and `-` is written `_`
(`roost.supervisor.log_level`).
"""

from __future__ import annotations

from typing import Any

from roost.streams import STREAMS


class Methods:
    """What a client can call and subscribe to."""

    def subscribe(self, topic: str) -> Any:
        """The events of a topic from now on. Raises Refused."""
        return self._subscribe(topic)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Method(self, plain(name))


class Method:
    """A method, or the beginning of the names of several."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name = client, name

    def __getattr__(self, name: str) -> Method:
        if name.startswith("_"):
            raise AttributeError(name)
        return Method(self._client, f"{self._name}.{plain(name)}")

    def __call__(self, payload: Any = None, /, **arguments: Any) -> Any:
        given = {key.removesuffix("_"): value for key, value in arguments.items() if value is not None}
        ask = self._client.stream if self._name in STREAMS else self._client.call
        return ask(self._name, given if payload is None else payload)


def plain(name: str) -> str:
    """A part of a method's name as Roost has it."""
    return name.removesuffix("_").replace("_", "-")
