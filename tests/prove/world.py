"""The state that callers share: accounts, keys, webhooks and envelopes. Callers choose their next call from it.

The judge does not use this state. It reads the history only.
"""

import random
import threading
from dataclasses import dataclass, field
from datetime import datetime, timezone

from history import Call, now


@dataclass
class Account:
    """An account with its credentials."""

    id: str
    login_secret: str
    recovery_code: str
    sessions: list = field(default_factory=list)
    # Pairs of token id and token, with the identity of the token.
    tokens: list = field(default_factory=list)
    # Changes of the secrets must not overlap: the second would use an old secret.
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Webhook:
    """A webhook whose registration got a response."""

    id: str
    owner: object
    path: str


@dataclass
class Identity:
    """A key of an account."""

    account: Account
    key: str
    handle: str
    is_revoked: bool = False
    webhooks: list = field(default_factory=list)
    # Changes of the policy must not overlap, so that the judge knows the policy.
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Sent:
    """An envelope that a caller knows."""

    id: str
    sender: Identity | None
    recipient: Identity
    at: float


class World:
    """The shared state, with the calls that create identities."""

    def __init__(self, settings, client, cluster, receivers, ports):
        self.settings, self.client, self.cluster, self.receivers = settings, client, cluster, receivers
        # The ports of a lying proxy, by the ports of the receivers.
        self.ports = ports
        self.history = client.history
        self.mark = f"sealed-text-{settings.seed}-"
        self.identities, self.retired, self.envelopes = [], [], []
        self.by_path = {}
        self.is_confirmed_by_option = cluster.has_option(["key", "revoke"], "--yes")

    def operate(self, name, key, command, body=None):
        """Runs a command of the operator, and writes it to the history."""
        began = now()
        output = self.cluster.operate(*command)
        status = None if output is None else 200
        return self.history.add(Call(name, began, now(), key=key, body=body or {}, status=status, answer=output or {}))

    def revoke_as_operator(self, identity):
        """Revokes a key with the command of the operator."""
        yes = ["--yes"] if self.is_confirmed_by_option else []
        return self.operate("revoke", identity.key, ["key", "revoke", identity.key, *yes])

    def activate(self, account=None, handle=None):
        """Activates a key with a plan. Returns the identity, or `None` if a call failed."""
        number = self.client.number()
        body = {"label": f"Key {number}", "handle": handle or f"h{self.settings.seed % 1000}-{number}"}
        credential = account.sessions[-1] if account and account.sessions else None
        if account and not credential:
            return None
        call = self.client.call("activate", "/v1/did/activate", body, credential=credential)
        if call.outcome != "ok":
            return None
        if not account:
            account = Account(call.answer["account_id"], call.answer["login_secret"], call.answer["recovery_code"])
            self.log_in(account)
        identity = Identity(account, call.answer["api_key_id"], call.answer["handle"])
        self.set_plan(identity)
        self.identities.append(identity)
        return identity

    def log_in(self, account):
        """Opens a session of an account."""
        body = {"account_id": account.id, "login_secret": account.login_secret}
        call = self.client.call("login", "/v1/auth/login", body)
        if call.outcome == "ok":
            account.sessions.append(call.answer["session_token"])

    def set_plan(self, identity):
        """Gives a key random limits, so that a run reaches some of them."""
        choose = self.client.random
        plan = {"minute": 100_000, "day": 100_000, "month": 100_000, "second": 1000}
        tight = choose.choice([None, None, None, ("minute", 25), ("second", 2), ("month", 12), ("day", 60)])
        if tight:
            plan[tight[0]] = tight[1] + choose.randrange(tight[1])
        limits = [f"--per-{window}={limit}" for window, limit in plan.items()]
        self.operate("plan", identity.key, ["plan", "set", identity.key, "enterprise", *limits], plan)

    def retire(self, identity):
        """Stops the normal use of a revoked key."""
        identity.is_revoked = True
        if identity in self.identities:
            self.identities.remove(identity)
        self.retired.append(identity)

    def find(self, key):
        """Returns the identity of a key, also of a revoked one."""
        return next((it for it in self.identities + self.retired if it.key == key), None)

    def new_path(self, identity):
        """Returns a receiver with a new path for a registration."""
        path = f"/hook-{self.client.number()}"
        self.by_path[path] = identity
        return self.client.random.choice(self.receivers), path

    def port_of(self, receiver):
        """Returns the port that webhooks use for a receiver: its own, or that of a lying proxy."""
        return self.ports.get(receiver.port, receiver.port)

    def wall_text(self, ago):
        """Returns the time some seconds ago, as the service writes times."""
        at = datetime.fromtimestamp(self.history.wall(now() - ago), timezone.utc)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def live_envelopes(self, margin=0.0):
        """Returns the known envelopes that stay stored for at least `margin` seconds."""
        oldest = now() - self.settings.retention + margin
        return [sent for sent in self.envelopes[-400:] if sent.at > oldest]

    def expired_envelopes(self):
        """Returns known envelopes that expired in the last ten seconds."""
        newest = now() - self.settings.retention - 1.2
        return [sent for sent in self.envelopes[-600:] if newest - 10 < sent.at < newest]


def some(choices, chooser=random):
    """Returns a random element, or `None` if there is none."""
    return chooser.choice(choices) if choices else None
