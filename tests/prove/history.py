"""The history of a run: calls, attempts, receiver modes and faults, with their times.

All times are seconds of the monotonic clock. `History.time_of` converts the times of the server. `History.clock_step`
detects a change of the wall clock during the run.
"""

import json
import threading
import time
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime


@dataclass
class Call:
    """One request of a caller with its response, or one command of an operator."""

    name: str
    began: float
    ended: float
    node: int = 0
    key: str | None = None
    account: str | None = None
    credential: str | None = None
    body: dict = field(default_factory=dict)
    # The HTTP status; `None` without a response. A successful command has 200.
    status: int | None = None
    answer: dict = field(default_factory=dict)
    headers: dict = field(default_factory=dict)
    # False if no byte of the request can have reached a server.
    is_sent: bool = True
    repeat: str | None = None
    # `foreign` names an id of another account. `invented` names an id that never existed.
    probe: str | None = None

    @property
    def outcome(self):
        """Returns `ok`, `refused`, or `unknown` if the request may have had an effect."""
        if self.status == 200:
            return "ok"
        # A 503 guarantees that nothing was stored.
        is_refused = self.status is not None and (self.status < 500 or self.status == 503)
        return "refused" if is_refused or not self.is_sent else "unknown"

    @property
    def code(self):
        """Returns the error code of the response."""
        return self.answer.get("code")


@dataclass
class Attempt:
    """One request to a receiver. `path` identifies the registration of the webhook."""

    path: str
    began: float
    ended: float
    headers: dict
    body: str
    # The final HTTP status of the response; `None` without a complete response.
    status: int | None = None
    # True if the whole response was written well within the timeout of the service.
    is_prompt: bool = False
    is_aborting: bool = False
    # The mode of the receiver at this time.
    mode: str = "healthy"

    @property
    def event_id(self):
        """Returns the id of the event."""
        return self.headers.get("webhook-id", "")

    @property
    def is_success(self):
        """Returns whether the receiver accepted the event."""
        return self.status is not None and 200 <= self.status < 300

    def payload(self):
        """Returns the parsed body; an empty object if the body is not JSON."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass
class Mode:
    """A change of the behaviour of a receiver."""

    port: int
    at: float
    name: str


@dataclass
class Fault:
    """A fault of a node or of the database, until the affected process works again."""

    name: str
    node: int | None
    began: float
    ended: float
    # True if `/readyz` of every node responded 200 in time.
    is_recovered: bool = True


@dataclass
class Leak:
    """A line of a server's log that contains a message or a secret."""

    node: int
    line: str


class History:
    """An append-only record of a run. Threads add records in any order."""

    KINDS = {"calls": Call, "attempts": Attempt, "modes": Mode, "faults": Fault, "leaks": Leak}

    def __init__(self, wall_offset=None):
        self.calls, self.attempts, self.modes, self.faults, self.leaks = [], [], [], [], []
        self.wall_offset = time.time() - time.monotonic() if wall_offset is None else wall_offset
        self.lock = threading.Lock()

    def add(self, record):
        """Appends a record to the list of its kind."""
        name = next(name for name, kind in self.KINDS.items() if isinstance(record, kind))
        with self.lock:
            getattr(self, name).append(record)
        return record

    def time_of(self, text):
        """Converts a time of the server to a time of the history."""
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() - self.wall_offset

    def wall(self, at):
        """Converts a time of the history to Unix seconds."""
        return at + self.wall_offset

    def clock_step(self):
        """Returns by how many seconds the wall clock was set since the start."""
        return abs(time.time() - time.monotonic() - self.wall_offset)

    def save(self, file):
        """Writes the history as JSON."""
        lists = {name: [asdict(record) for record in getattr(self, name)] for name in self.KINDS}
        with open(file, "w", encoding="utf-8") as out:
            json.dump({"wall_offset": self.wall_offset, **lists}, out)

    @classmethod
    def load(cls, file):
        """Reads a history that `save` wrote."""
        with open(file, encoding="utf-8") as text:
            value = json.load(text)
        history = cls(value["wall_offset"])
        for name, kind in cls.KINDS.items():
            known = {each.name for each in fields(kind)}
            records = [kind(**{name: it for name, it in row.items() if name in known}) for row in value[name]]
            setattr(history, name, records)
        return history


def now():
    """Returns the time of the history."""
    return time.monotonic()
