"""Builds a true history by hand: a small service that keeps its promises."""

import base64
import json
from collections import Counter, defaultdict
from datetime import datetime, timezone

from history import Attempt, Call, Fault, History, Mode
from judge.payloads import signature
from settings import Settings

WALL_OFFSET = 1_800_000_000.0
SETTINGS = Settings(seed=0, database="postgres", seconds=60, binary="", retention=24.0)
ENCRYPTION = {"algorithm": "HPKE", "status": "sealed"}
PORT = 7000
PROBLEMS = {401: "UNAUTHORIZED", 403: "KEY_INACTIVE", 404: "ENVELOPE_NOT_FOUND"}


class Story:
    """A history under construction. Each method adds a true record at the time of the story."""

    def __init__(self):
        self.history = History(WALL_OFFSET)
        self.at, self.number = 100.0, 0
        self.requests, self.messages = Counter(), Counter()
        self.secrets, self.policies = {}, {}
        self.sessions = {}
        self.deliveries = defaultdict(list)
        self.history.add(Mode(PORT, 0.0, "healthy"))

    def wait(self, seconds):
        """Lets time pass."""
        self.at += seconds

    def id(self, prefix):
        """Returns a new id."""
        self.number += 1
        return f"{prefix}_{self.number:026}"

    def call(self, name, key=None, body=None, status=200, answer=None, **more):
        """Adds a call of 10 ms. Requests with a key count, unless the rate check refused them."""
        began, self.at = self.at, self.at + 0.01
        headers = {"content-type": "application/json", "x-request-id": "req_1"}
        is_counted = key and more.get("credential", "") != "" and status not in (401, 429, None)
        if is_counted or status == 429:
            headers["ratelimit"] = '"minute";r=1;t=1'
        if is_counted:
            self.requests[key] += 1
        if status not in (200, None):
            headers |= {"content-type": "application/problem+json", "retry-after": "1", "www-authenticate": "Bearer"}
            code = (answer or {}).get("code", PROBLEMS.get(status, "INVALID_FIELD"))
            answer = {"type": f"http://node/{code}", "title": "T", "status": status, "detail": "D", "code": code,
                      "request_id": "req_1", **(answer or {})}
        headers |= more.pop("headers", {})
        call = Call(name, began, self.at, key=key, body=body or {}, status=status, answer=answer or {}, headers=headers,
                    **more)
        self.wait(0.01)
        return self.history.add(call)

    def activate(self, name):
        """Activates a key of a new account, with a session and a plan."""
        account, key = f"acct_{name}", f"ak_{name}"
        names = ("label", "handle", "did", "status", "plan", "created_at")
        self.call("activate", body={"label": name}, answer={
            **dict.fromkeys(names, name), "api_key_id": key, "account_id": account, "login_secret": secret("ls", name)})
        self.log_in(name)
        self.history.add(Call("plan", self.at, self.at + 0.01, key=key, status=200,
                              body={"minute": 200, "day": 1000, "month": 50, "second": 10}))
        self.wait(6)

    def log_in(self, name):
        """Opens a session."""
        self.number += 1
        token = secret("st", f"{name}{self.number}")
        self.sessions[f"ak_{name}"] = token
        self.call("login", answer={"session_token": token, "token_type": "Bearer", "account_id": f"acct_{name}",
                                   "expires_at": self.text(self.at + 600)})

    def as_key(self, name, operation, body=None, **more):
        """Adds a call with the session of a key."""
        key = f"ak_{name}"
        more.setdefault("credential", self.sessions[key])
        return self.call(operation, key, body, account=f"acct_{name}", **more)

    def register(self, name, *events):
        """Registers a webhook on the healthy receiver."""
        path, shown = f"/hook-{name}", "whsec_" + base64.b64encode(f"{name:32}".encode()).decode()
        self.secrets[path] = [shown]
        answer = {**dict.fromkeys(("url", "events", "status", "created_at")), "webhook_id": f"wh_{name}",
                  "api_key_id": f"ak_{name}", "secret": shown, "waiting": 0, "waiting_more": False}
        body = {"url": f"http://127.0.0.1:{PORT}{path}", "events": ["envelope.received", *events]}
        return self.as_key(name, "register", body, answer=answer)

    def send(self, sender, recipient, **more):
        """Sends an envelope."""
        created, envelope_id = self.at + 0.005, self.id("env")
        answer = {"envelope_id": envelope_id, "envelope_hash": f"sha256:{envelope_id}", "status": "delivered",
                  "sender": f"ak_{sender}", "recipient": f"ak_{recipient}", "encryption": ENCRYPTION,
                  "metadata": {"payload_size_bytes": 10, "timestamp": self.text(created)}}
        self.messages[f"ak_{sender}"] += 1
        body = {"to": f"ak_{recipient}", "message": f"sealed-text-0-{self.number}"}
        return self.as_key(sender, "send", body, answer=answer, **more)

    def receive(self, name, sent, status=200, **more):
        """Delivers an envelope to the webhook of a key."""
        answer = sent.answer
        names = ("envelope_id", "envelope_hash", "sender", "encryption", "metadata")
        payload = {"event": "envelope.received", **{it: answer[it] for it in names}, "sender_handle": None}
        return self.attempt(name, answer["envelope_id"], payload, status, **more)

    def attempt(self, name, event_id, payload, status=200, **more):
        """Adds an attempt with valid signatures, and its entry of the log."""
        path, body = f"/hook-{name}", json.dumps(payload)
        stamp = str(int(self.at + WALL_OFFSET))
        entries = " ".join("v1," + signature(it, f"{event_id}.{stamp}.{body}".encode()) for it in self.secrets[path])
        headers = {"content-type": "application/json", "webhook-id": event_id, "webhook-timestamp": stamp,
                   "webhook-signature": entries, "x-service-signature": entries}
        attempt = Attempt(path, self.at, self.at + 0.01, headers, body, status, is_prompt=True, **more)
        number = 1 + sum(entry["envelope_id"] == event_id for entry in self.deliveries[name])
        is_last = number == SETTINGS.attempts_max
        outcome = "succeeded" if status < 300 else "exhausted" if is_last else "failed"
        self.deliveries[name].append({"envelope_id": event_id, "attempt": number, "outcome": outcome,
                                      "status_code": status, "at": self.text(self.at)})
        self.wait(0.05)
        return self.history.add(attempt)

    def bounce(self, name, sent, reason):
        """Delivers the bounce of an envelope to its sender."""
        event_id = self.id("evt")
        payload = {"event": "envelope.bounced", "event_id": event_id, "envelope_id": sent.answer["envelope_id"],
                   "recipient": sent.answer["recipient"], "reason": reason,
                   "metadata": {"timestamp": self.text(self.at)}}
        return self.attempt(name, event_id, payload)

    def open(self, name, sent, **more):
        """Opens an envelope."""
        names = ("envelope_id", "envelope_hash", "sender", "encryption", "metadata")
        answer = {**{it: sent.answer[it] for it in names}, "message": sent.body["message"], "sender_handle": None,
                  "opened_at": self.text(self.at)}
        return self.as_key(name, "open", {"envelope_id": sent.answer["envelope_id"]}, answer=answer, **more)

    def receipt(self, name, sent, state, notified_at=None, opened_at=None):
        """Reads a receipt."""
        answer = {"envelope_id": sent.answer["envelope_id"], "recipient": sent.answer["recipient"], "sent_at": "",
                  "state": state, "notified_at": notified_at, "opened_at": opened_at}
        return self.as_key(name, "receipt", {"envelope_id": sent.answer["envelope_id"]}, answer=answer)

    def status(self, name, waiting=0):
        """Reads usage and waiting envelopes."""
        key = f"ak_{name}"
        used = {"minute": self.in_minute(key) + 1, "day": self.requests[key] + 1, "month": self.messages[key]}
        names = ("label", "handle", "did", "status", "plan", "account_id", "created_at", "governance",
                 "throughput_per_second", "webhooks")
        usage = {window: {"used": count} for window, count in used.items()}
        return self.as_key(name, "status", answer={
            **dict.fromkeys(names), "api_key_id": key, "usage": usage, "waiting": waiting, "waiting_more": False})

    def in_minute(self, key):
        """Returns the number of counted requests of a key in the current minute."""
        start = self.at - (self.at + WALL_OFFSET) % 60
        return sum(call.key == key and call.began >= start and "ratelimit" in call.headers and call.status != 429
                   for call in self.history.calls)

    def policy(self, name, **changes):
        """Changes the policy of a key."""
        policy = self.policies.setdefault(name, {"accept": "anyone", "receipts": "notified", "listed": True,
                                                 "allowed": [], "blocked": []})
        policy |= changes
        return self.as_key(name, "policy", {}, answer=dict(policy))

    def refuse(self, name, operation, body, code="ENVELOPE_NOT_FOUND", status=404, **more):
        """Adds a refused call."""
        return self.as_key(name, operation, body, status=status, answer={"code": code}, **more)

    def log(self, name):
        """Reads the log of deliveries."""
        answer = {"deliveries": list(self.deliveries[name]), "next_cursor": None}
        return self.as_key(name, "deliveries", {"webhook_id": f"wh_{name}"}, answer=answer)

    def fault(self, name="kill_node"):
        """Adds a fault of one second."""
        fault = self.history.add(Fault(name, 0, self.at, self.at + 1))
        self.wait(1 + SETTINGS.webhook_lease + 1)
        return fault

    def text(self, at):
        """Returns a time as the service writes it."""
        moment = datetime.fromtimestamp(at + WALL_OFFSET, timezone.utc)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def secret(prefix, name):
    """Returns a text in the form of a secret."""
    return f"{prefix}_{name:x<40}"
