"""Remembers processed events."""

from __future__ import annotations

from collections import OrderedDict


class Seen:
    """The ids of the newest processed events, in memory. After a restart, an event may be processed again."""

    def __init__(self, capacity: int = 100_000) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._capacity = capacity

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def add(self, id: str) -> None:
        self._ids[id] = None
        while len(self._ids) > self._capacity:
            self._ids.popitem(last=False)
