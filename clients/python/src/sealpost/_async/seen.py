"""Stores the ids of processed events."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol


class AsyncSeen(Protocol):
    """A store of processed events. Write one with a table if the program has several processes."""

    async def has(self, id: str) -> bool:
        """Returns whether the event was processed."""

    async def add(self, id: str) -> None:
        """Stores the id of a processed event."""


class AsyncSeenInMemory:
    """The ids of the newest processed events, in memory. After a restart, an event may be processed again."""

    def __init__(self, capacity: int = 100_000) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._capacity = capacity

    async def has(self, id: str) -> bool:
        return id in self._ids

    async def add(self, id: str) -> None:
        self._ids[id] = None
        while len(self._ids) > self._capacity:
            self._ids.popitem(last=False)
