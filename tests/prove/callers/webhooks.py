"""Operations on webhooks: registration, management, the log of deliveries and repeated deliveries."""

from world import Webhook

EVENTS = ["envelope.received", "envelope.bounced", "identity.rotated", "usage.threshold"]
WEBHOOKS_MAX = 4


def register(caller, identity=None):
    """Registers a webhook for some events. The first webhook of a key gets the envelopes that wait."""
    identity = identity or caller.identity()
    if not identity or len(identity.webhooks) >= WEBHOOKS_MAX:
        return
    receiver, path = caller.world.new_path(identity)
    events = [name for name in EVENTS if name == EVENTS[0] or caller.random.random() < 0.6]
    body = {"url": f"http://127.0.0.1:{caller.world.port_of(receiver)}{path}", "events": events}
    if caller.random.random() < 0.1:
        body["waiting"] = "skip"
    call = caller.call("register", "/v1/webhooks/register", body, identity, scope="webhooks")
    if call.outcome == "ok":
        identity.webhooks.append(Webhook(call.answer["webhook_id"], identity, path))


def delete(caller):
    """Deletes a webhook."""
    if webhook := caller.webhook():
        call = act(caller, webhook, "delete")
        if call.outcome != "refused" and webhook in webhook.owner.webhooks:
            webhook.owner.webhooks.remove(webhook)


def enable(caller):
    """Enables a webhook, which a response 410 may have disabled."""
    if webhook := caller.webhook():
        act(caller, webhook, "enable")


def rotate_secret(caller):
    """Replaces the secret of a webhook."""
    if webhook := caller.webhook():
        act(caller, webhook, "rotate-secret")


def test_webhook(caller):
    """Sends a test event."""
    if webhook := caller.webhook():
        act(caller, webhook, "test")


def list_webhooks(caller):
    """Lists the webhooks of a key."""
    if identity := caller.identity():
        caller.call("list", "/v1/webhooks/list", {}, identity, scope="read")


def read_deliveries(caller, webhook=None):
    """Reads up to three pages of the log of deliveries."""
    webhook = webhook or caller.webhook()
    cursor = None
    for _ in range(3):
        if not webhook:
            return
        more = {"cursor": cursor} if cursor else {}
        call = act(caller, webhook, "deliveries", limit=100, **more)
        cursor = call.answer.get("next_cursor")
        if call.outcome != "ok" or not cursor:
            return


def redeliver(caller):
    """Asks for an event again."""
    sent = caller.some(caller.world.live_envelopes())
    webhook = sent and caller.some(sent.recipient.webhooks)
    if webhook:
        act(caller, webhook, "redeliver", envelope_id=sent.id)


def redeliver_under_way(caller):
    """Asks for an event again while a receiver is busy with it."""
    for receiver in caller.random.sample(caller.world.receivers, len(caller.world.receivers)):
        attempt = caller.some(list(receiver.under_way.values()))
        owner = attempt and caller.world.by_path.get(attempt.path)
        webhook = owner and next((it for it in owner.webhooks if it.path == attempt.path), None)
        if webhook and attempt.event_id.startswith("env_"):
            act(caller, webhook, "redeliver", envelope_id=attempt.event_id)
            return


def recover(caller):
    """Asks for all failed deliveries of the last seconds again."""
    if webhook := caller.webhook():
        since = caller.world.wall_text(caller.random.uniform(2, caller.settings.retention))
        act(caller, webhook, "recover", since=since, dry_run=caller.random.random() < 0.3)


def act(caller, webhook, action, **members):
    """Sends an action on a webhook, by its path or by the member `action`."""
    body = {"webhook_id": webhook.id, **members}
    path = f"/v1/webhooks/{action}"
    if caller.random.random() < 0.3:
        path, body = "/v1/webhooks", {"action": action.replace("-", "_"), **body}
    return caller.call(action, path, body, webhook.owner, scope="webhooks")


OPERATIONS = {
    register: 4, delete: 1, enable: 4, rotate_secret: 1, test_webhook: 1, list_webhooks: 1, read_deliveries: 4,
    redeliver: 3, redeliver_under_way: 6, recover: 2,
}
