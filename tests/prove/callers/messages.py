"""Operations on envelopes: sending, opening, receipts and usage."""

from history import now
from world import Sent


def send(caller):
    """Sends an envelope once."""
    sender, recipient = caller.identity(), caller.identity()
    if sender and recipient:
        send_text(caller, sender, recipient)


def send_text(caller, sender, recipient, repeat=None, text=None, is_abandoned=False):
    """Sends a text by key or handle, and remembers the envelope. Repeated requests have the same body."""
    text = text or caller.text()
    to = recipient.key if repeat or caller.random.random() < 0.8 else f"@{recipient.handle}"
    call = caller.call("send", "/v1/channel/send", {"to": to, "message": text}, sender, repeat=repeat,
                       is_abandoned=is_abandoned, scope="send")
    # A handle may have moved to another key.
    reached = caller.world.find(call.answer.get("recipient"))
    if call.outcome == "ok" and reached and "idempotency-replayed" not in call.headers:
        at = caller.world.history.time_of(call.answer["metadata"]["timestamp"])
        caller.world.envelopes.append(Sent(call.answer["envelope_id"], sender, reached, at))
    return call


def send_repeatedly(caller):
    """Sends one envelope two or three times with one `Idempotency-Key`, and may lose the first response."""
    sender, recipient = caller.identity(), caller.identity()
    if not sender or not recipient:
        return
    text, repeat = caller.text(), f"repeat-{caller.client.number()}"
    for attempt in range(caller.random.choice([2, 2, 3])):
        is_lost = attempt == 0 and caller.random.random() < 0.4
        send_text(caller, sender, recipient, repeat, text, is_abandoned=is_lost)
    if caller.random.random() < 0.2:
        send_text(caller, sender, recipient, repeat, f"{text}-changed")


def send_and_hang_up(caller):
    """Sends an envelope and closes the connection before the response."""
    sender, recipient = caller.identity(), caller.identity()
    if sender and recipient:
        send_text(caller, sender, recipient, is_abandoned=True)


def send_burst(caller):
    """Sends several envelopes at once, to reach the limit of a second."""
    sender, recipient = caller.identity(), caller.identity()
    if sender and recipient:
        for _ in range(6):
            send_text(caller, sender, recipient)


def send_to_retired(caller):
    """Sends to a revoked key, and from it."""
    retired, other = caller.some(caller.world.retired), caller.identity()
    if retired and other:
        pair = [retired, other]
        caller.random.shuffle(pair)
        send_text(caller, *pair)


def open_envelope(caller):
    """Opens a live envelope as its recipient."""
    sent = caller.some(caller.world.live_envelopes())
    if sent:
        open_as(caller, sent.recipient, sent.id)


def open_as(caller, identity, envelope_id, probe=None):
    """Opens an envelope as a key."""
    return caller.call("open", "/v1/channel/open", {"envelope_id": envelope_id}, identity, probe=probe, scope="open")


def read_receipt(caller):
    """Reads the receipt of a live envelope as its sender."""
    sent = caller.some(caller.world.live_envelopes())
    if sent and sent.sender:
        caller.call("receipt", "/v1/channel/receipt", {"envelope_id": sent.id}, sent.sender, scope="send")


def read_status(caller, identity=None):
    """Reads usage and waiting envelopes of a key."""
    if identity := identity or caller.identity():
        caller.call("status", "/v1/did/status", {}, identity, scope="read")


def use_expired(caller):
    """Tries to open, redeliver and read the receipt of an envelope that has expired."""
    sent = caller.some(caller.world.expired_envelopes())
    if not sent:
        return
    open_as(caller, sent.recipient, sent.id)
    if sent.sender:
        caller.call("receipt", "/v1/channel/receipt", {"envelope_id": sent.id}, sent.sender)
    for webhook in sent.recipient.webhooks[:2]:
        body = {"webhook_id": webhook.id, "envelope_id": sent.id}
        caller.call("redeliver", "/v1/webhooks/redeliver", body, sent.recipient)
    caller.call("status", "/v1/did/status", {}, sent.recipient)


def use_foreign(caller):
    """Names an envelope and a webhook of other accounts, and ids that never existed."""
    identity, sent = caller.identity(), caller.some(caller.world.live_envelopes(margin=2))
    if not identity or not sent or not sent.sender:
        return
    if identity.account not in (sent.sender.account, sent.recipient.account):
        open_as(caller, identity, sent.id, probe="foreign")
        caller.call("receipt", "/v1/channel/receipt", {"envelope_id": sent.id}, identity, probe="foreign")
        webhook = caller.some(sent.recipient.webhooks)
        if webhook:
            action = caller.random.choice(["deliveries", "enable", "rotate-secret", "delete", "test"])
            caller.call(action, f"/v1/webhooks/{action}", {"webhook_id": webhook.id}, identity, probe="foreign")
            body = {"webhook_id": webhook.id, "envelope_id": sent.id}
            caller.call("redeliver", "/v1/webhooks/redeliver", body, identity, probe="foreign")
        # A key of another account with a valid session.
        caller.call("status", "/v1/did/status", {}, sent.recipient, probe="stranger",
                    credential=caller.session(identity.account))
    open_as(caller, identity, "env_01m7ye92t9f5vargkky48cczpv", probe="invented")
    body = {"webhook_id": "wh_01m7ye92sqen1aazwgag1e22t1"}
    caller.call("deliveries", "/v1/webhooks/deliveries", body, identity, probe="invented")


def open_unknown_deliveries(caller):
    """Opens envelopes that receivers saw without an acknowledged send. Their text shows the call that sent them."""
    known = {sent.id for sent in caller.world.envelopes}
    recent = caller.world.history.attempts[-300:]
    for attempt in recent:
        owner = caller.world.by_path.get(attempt.path)
        if owner and attempt.event_id.startswith("env_") and attempt.event_id not in known:
            known.add(attempt.event_id)
            caller.world.envelopes.append(Sent(attempt.event_id, None, owner, now()))
            open_as(caller, owner, attempt.event_id)


OPERATIONS = {
    send: 30, send_repeatedly: 8, send_and_hang_up: 2, send_burst: 2, send_to_retired: 2, open_envelope: 16,
    read_receipt: 8, read_status: 8, use_expired: 4, use_foreign: 2, open_unknown_deliveries: 3,
}
