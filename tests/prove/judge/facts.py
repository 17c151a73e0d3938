"""Facts derived from a history: envelopes, webhooks, revocations and disturbances. Every invariant reads them."""

import json
from bisect import bisect_left
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from judge.bounds import NEVER, RELAXED_S


@dataclass
class Envelope:
    """An acknowledged envelope."""

    id: str
    send: object
    recipient: str
    created: float
    acknowledged: float
    expires: float

    @property
    def sender(self):
        """Returns the key of the sender."""
        return self.send.key

    @property
    def text(self):
        """Returns the message."""
        return self.send.body["message"]


@dataclass
class Webhook:
    """A registration of a webhook. Without a response to the registration, id and secret are unknown."""

    path: str
    port: int
    key: str
    events: list
    register: object
    id: str | None = None
    # Time of the first request that may have ended the webhook: its deletion, or the revocation of its key.
    ended: float = NEVER
    # Time at which the webhook had ended for certain.
    gone: float = NEVER
    # Triples: the secret, and the times at which its creation began and ended.
    secrets: list = field(default_factory=list)
    # False if a rotation without a response may have created an unknown secret.
    has_known_secrets: bool = True
    # Pairs of times between which the webhook may be disabled.
    disabled: list = field(default_factory=list)

    def may_be_disabled(self, began, ended):
        """Returns whether the webhook may be disabled at some time between two times."""
        return any(start < ended and end > began for start, end in self.disabled)


class Facts:
    """Indexes of a history."""

    def __init__(self, settings, history):
        self.settings, self.history = settings, history
        self.calls = sorted(history.calls, key=lambda call: call.began)
        self.attempts = sorted(history.attempts, key=lambda attempt: attempt.began)
        self.ended = max([call.ended for call in self.calls] + [attempt.ended for attempt in self.attempts], default=0)
        self.by_name = group(self.calls, lambda call: call.name)
        self.sends = self.by_name["send"]
        self.envelopes = self._find_envelopes()
        self._by_recipient = group([call for call in self.sends if call.outcome != "refused"], recipient_of)
        self.revoked = self._find_ends(self.by_name["revoke"], lambda call: call.key)
        self.webhooks = self._find_webhooks()
        self.by_id = {webhook.id: webhook for webhook in self.webhooks.values() if webhook.id}
        self.by_event = group(self.attempts, lambda attempt: (attempt.path, attempt.event_id))
        self.modes = group(sorted(history.modes, key=lambda mode: mode.at), lambda mode: mode.port)
        self.opens = group(self.by_name["open"], lambda call: call.body["envelope_id"])
        self.log = self._find_log()
        # The windows of requests, computed once.
        self.windows = {}

    def _find_envelopes(self):
        envelopes = {}
        for call in self.sends:
            if call.outcome != "ok":
                continue
            id, created = call.answer["envelope_id"], self.history.time_of(call.answer["metadata"]["timestamp"])
            known = envelopes.get(id)
            if known:
                known.acknowledged = min(known.acknowledged, call.ended)
            else:
                expires = created + self.settings.retention
                envelopes[id] = Envelope(id, call, call.answer["recipient"], created, call.ended, expires)
        return envelopes

    @staticmethod
    def _find_ends(calls, thing):
        """Returns for each thing when its end may have begun, and when it had ended for certain."""
        ends = {}
        for call in calls:
            if call.outcome != "refused":
                began, ended = ends.get(thing(call), (NEVER, NEVER))
                certain = call.ended if call.outcome == "ok" else NEVER
                ends[thing(call)] = min(began, call.began), min(ended, certain)
        return ends

    def _find_webhooks(self):
        webhooks = {}
        for call in self.by_name["register"]:
            if call.outcome == "refused":
                continue
            url = urlsplit(call.body["url"])
            webhook = Webhook(url.path, url.port, call.key, call.body["events"], call, call.answer.get("webhook_id"))
            if "secret" in call.answer:
                webhook.secrets.append((call.answer["secret"], call.began, call.ended))
            else:
                webhook.has_known_secrets = False
            webhook.ended, webhook.gone = self.revoked.get(call.key, (NEVER, NEVER))
            webhooks[url.path] = webhook
        by_id = {webhook.id: webhook for webhook in webhooks.values() if webhook.id}
        self._add_changes(by_id)
        for attempt in self.attempts:
            webhook = webhooks.get(attempt.path)
            if webhook and attempt.status == 410:
                webhook.disabled.append((attempt.began, self._enabled_after(webhook, attempt.ended)))
        return webhooks

    def _add_changes(self, by_id):
        for call in self.by_name["delete"] + self.by_name["rotate-secret"]:
            webhook = by_id.get(call.body["webhook_id"])
            if webhook is None or call.outcome == "refused" or call.key != webhook.key:
                continue
            if call.name == "delete":
                webhook.ended = min(webhook.ended, call.began)
                webhook.gone = min(webhook.gone, call.ended if call.outcome == "ok" else NEVER)
            elif "secret" in call.answer:
                webhook.secrets.append((call.answer["secret"], call.began, call.ended))
            else:
                webhook.has_known_secrets = False

    def _enabled_after(self, webhook, at):
        ends = [call.ended for call in self.by_name["enable"]
                if call.outcome == "ok" and call.body["webhook_id"] == webhook.id and call.began > at]
        return min(ends, default=NEVER)

    def _find_log(self):
        """Returns the entries of the logs of deliveries, each once, by webhook and event."""
        seen, log = set(), Groups()
        for call in self.by_name["deliveries"]:
            for entry in call.answer.get("deliveries", []) if call.outcome == "ok" else []:
                if entry["outcome"] == "pending":
                    continue
                webhook_id, identity = call.body["webhook_id"], json.dumps(entry, sort_keys=True)
                if (webhook_id, identity) not in seen:
                    seen.add((webhook_id, identity))
                    log.setdefault((webhook_id, entry["envelope_id"]), []).append(entry)
        return log

    def sends_to(self, key):
        """Returns the sends that may have gone to a key. Without a response, a handle may stand for any key."""
        return self._by_recipient[key] + self._by_recipient[None]

    def is_disturbed(self, began, ended):
        """Returns whether a fault overlaps a time span."""
        return any(fault.began < ended and fault.ended > began for fault in self.history.faults)

    def quiet_spans(self, began, ended):
        """Yields the time spans within which deliveries proceed normally: outside faults and the leases of dead nodes.

        Faults that ended before `began` do not matter: work that began later has no lease of a dead node.
        """
        start = began
        for fault in sorted(self.history.faults, key=lambda fault: fault.began):
            if fault.ended > began and fault.began < ended:
                if fault.began > start:
                    yield start, fault.began
                start = max(start, fault.ended + self.settings.webhook_lease)
        if start < ended:
            yield start, ended

    def delay_at(self, at):
        """Returns the time by which recent faults may delay a request: a frozen process continues late."""
        return sum(min(fault.ended, at) - fault.began for fault in self.history.faults
                   if fault.began < at and fault.ended > at - self.settings.webhook_lease)

    def lease_left(self, since, at):
        """Returns for how long after `at` a node that died since `since` may hold a lease."""
        faults = [fault for fault in self.history.faults if fault.began < at and fault.ended > since]
        return max([0, *(fault.ended + self.settings.webhook_lease - at for fault in faults)])

    def modes_between(self, port, began, ended):
        """Returns the modes of a receiver in a time span."""
        modes = self.modes[port]
        first = max(0, bisect_left([mode.at for mode in modes], began) - 1)
        return {mode.name for mode in modes[first:] if mode.at < ended}

    def is_lost_count(self, call):
        """Returns whether a kill of the database may have undone the count of a request."""
        return any(fault.name.endswith("_database") and call.began < fault.ended and
                   call.ended > fault.began - RELAXED_S for fault in self.history.faults)


def recipient_of(call):
    """Returns the key that a send went to; `None` for a handle without a response."""
    if call.outcome == "ok":
        return call.answer["recipient"]
    return None if call.body["to"].startswith("@") else call.body["to"]


class Groups(dict):
    """Lists by key. A missing key has an empty list, and a look-up does not add it."""

    def __missing__(self, _):
        return []


def group(items, key):
    """Groups items by a key."""
    groups = Groups()
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
