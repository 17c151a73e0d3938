"""The result of a judgement: violations, and the number of checks of each invariant."""

from collections import Counter
from dataclasses import asdict, dataclass

TEXT_MAX = 700
# Headers that help to understand a violation.
HEADERS_SHOWN = {"webhook-id", "webhook-timestamp", "retry-after", "ratelimit", "idempotency-replayed"}


@dataclass(frozen=True)
class Violation:
    """A violated invariant with its evidence."""

    invariant: str
    text: str

    def __str__(self):
        return f"{self.invariant}: {self.text}"


class Verdict:
    """Collects checks and violations of the current invariant."""

    def __init__(self):
        self.invariant = None
        self.violations, self.checked = [], Counter()

    def check(self, is_held, text, *records):
        """Counts a check, and reports a violation with its records if the check failed."""
        self.checked[self.invariant] += 1
        if not is_held:
            evidence = "".join(f"\n      {shown(record)}" for record in records)
            self.violations.append(Violation(self.invariant, text + evidence))

    def names(self):
        """Returns the names of the violated invariants."""
        return {violation.invariant for violation in self.violations}


def shown(record):
    """Formats a record of a history as one line."""
    text = str(record)
    if hasattr(record, "__dataclass_fields__"):
        members = {name: value for name, value in asdict(record).items() if value not in (None, "", [], {})}
        if "headers" in members:
            members["headers"] = {name: it for name, it in members["headers"].items() if name in HEADERS_SHOWN}
        text = f"{type(record).__name__} {members}"
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + " …"
