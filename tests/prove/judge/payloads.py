"""Invariants of the requests to receivers: payloads, headers and signatures."""

import base64
import hashlib
import hmac

from judge.bounds import CHANGED_WITHIN_S, NEVER, STAMPED_WITHIN_S


def deliveries_are_signed_and_contain_metadata_only(facts, verdict):
    """Each request has valid signatures of all secrets that are valid at its time, and of no other secret.

    Its payload has exactly the members of the contract. The message is in no request.
    """
    texts = [call.body["message"] for call in facts.sends]
    mark = texts[0].rsplit("-", 1)[0] if texts else None
    for attempt in facts.attempts:
        payload = attempt.payload()
        members = MEMBERS.get(payload.get("event"))
        verdict.check(members is not None and shape(payload) - OPTIONAL == members,
                      f"a payload has other members: {sorted(shape(payload) ^ (members or set()))}", attempt)
        is_marked = mark is not None and (mark in attempt.body or mark in str(attempt.headers))
        verdict.check(not is_marked, "a request to a receiver contains a message", attempt)
        headers = attempt.headers
        id = payload.get("event_id", payload.get("envelope_id"))
        is_consistent = (headers.get("content-type") == "application/json" and headers.get("webhook-id") == id and
                         headers.get("webhook-signature") == headers.get("x-service-signature"))
        verdict.check(is_consistent, "the headers of a request do not match", attempt)
        if payload.get("event") == "envelope.received":
            _check_payload(facts, verdict, attempt, payload)
        _check_signatures(facts, verdict, attempt)


def _check_payload(facts, verdict, attempt, payload):
    envelope = facts.envelopes.get(payload["envelope_id"])
    if envelope:
        sent = envelope.send.answer
        is_same = all(payload.get(name) == sent[name]
                      for name in ("envelope_id", "envelope_hash", "sender", "encryption", "metadata"))
        verdict.check(is_same, "a payload differs from the response to the send", envelope.send, attempt)


def _check_signatures(facts, verdict, attempt):
    webhook = facts.webhooks.get(attempt.path)
    if webhook is None:
        verdict.check(False, "a request came to a path that no webhook has", attempt)
        return
    if not webhook.has_known_secrets:
        return
    delay = facts.delay_at(attempt.began)
    stamp = attempt.headers.get("webhook-timestamp", "")
    content = f"{attempt.event_id}.{stamp}.{attempt.body}".encode()
    found = {entry for entry in attempt.headers.get("webhook-signature", "").split(" ") if entry.startswith("v1,")}
    age = abs(facts.history.wall(attempt.began) - int(stamp)) if stamp.isdecimal() else NEVER
    verdict.check(age < STAMPED_WITHIN_S + delay, "the timestamp of a request is not its time", attempt)
    secrets = sorted(webhook.secrets, key=lambda secret: secret[1])
    possible, required = set(), set()
    for number, (secret, began, ended) in enumerate(secrets):
        entry = "v1," + signature(secret, content)
        _, replaced, end = secrets[number + 1] if number + 1 < len(secrets) else (None, NEVER, NEVER)
        # The old secret signs along for `secret_overlap`.
        end += facts.settings.secret_overlap + CHANGED_WITHIN_S + delay
        if began < attempt.began < end:
            possible.add(entry)
        # A delivery that a node holds has the secrets of the time when the node took it.
        if ended + CHANGED_WITHIN_S + facts.settings.webhook_lease + delay < attempt.began < replaced:
            required.add(entry)
    verdict.check(required <= found, "the signature of a valid secret is missing", attempt, webhook)
    verdict.check(bool(found) and found <= possible, "a request has a signature of an ended or unknown secret",
                  attempt, webhook)


def signature(secret, content):
    """Returns the base64 of the HMAC with a webhook secret."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def shape(value, prefix=""):
    """Returns the names of all members of an object, with the names of the objects around them."""
    names = set()
    for name, member in value.items():
        names.add(prefix + name)
        if isinstance(member, dict):
            names |= shape(member, f"{prefix}{name}.")
    return names


# The members of `envelope.received` that exist with `--events v1.1` only for envelopes with a context.
OPTIONAL = {"thread", "reply_to", "type"}
MEMBERS = {
    "envelope.received": {
        "event", "envelope_id", "envelope_hash", "sender", "sender_handle", "encryption", "encryption.algorithm",
        "encryption.status", "metadata", "metadata.payload_size_bytes", "metadata.timestamp"},
    "envelope.bounced": {
        "event", "event_id", "envelope_id", "recipient", "reason", "metadata", "metadata.timestamp"},
    "identity.rotated": {
        "event", "event_id", "api_key_id", "handle", "replaced_by", "reason", "metadata", "metadata.timestamp"},
    "usage.threshold": {
        "event", "event_id", "api_key_id", "window", "threshold", "used", "limit", "resets_at", "metadata",
        "metadata.timestamp"},
    "webhook.test": {"event", "event_id", "metadata", "metadata.timestamp"},
}
