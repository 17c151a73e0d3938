"""A true history in which every promise of the service is used. Lies refer to its records by name."""

from types import SimpleNamespace

from tests.story import Story, secret


def tell():
    """Returns the story and its records."""
    story, it = Story(), SimpleNamespace()
    it.story, it.history = story, story.history
    for name in ("alice", "bob", "carol", "dave"):
        story.activate(name)
    it.registered = story.register("bob", "identity.rotated")
    it.alice_registered = story.register("alice", "envelope.bounced", "identity.rotated")
    story.policy("bob", receipts="opened")
    use_an_envelope(story, it)
    repeat_a_send(story, it)
    fail_and_bounce(story, it)
    redeliver(story, it)
    refuse_by_policy(story, it)
    use_foreign_ids(story, it)
    end_credentials(story, it)
    it.fault = story.fault()
    expire(story, it)
    story.log("bob")
    story.wait(60)
    it.last = story.status("alice")
    return it


def use_an_envelope(story, it):
    """Sends, delivers and opens an envelope, and reads its receipts."""
    it.sent = story.send("alice", "bob")
    story.receipt("alice", it.sent, "sent")
    it.delivery = story.receive("bob", it.sent)
    notified_at = story.text(story.at)
    story.wait(5)
    it.notified = story.receipt("alice", it.sent, "notified", notified_at)
    opened_at = story.text(story.at)
    it.opened = story.open("bob", it.sent)
    it.opened_receipt = story.receipt("alice", it.sent, "opened", notified_at, opened_at)
    it.status = story.status("alice")


def repeat_a_send(story, it):
    """Repeats a send with an `Idempotency-Key`."""
    it.repeated = story.send("alice", "bob", repeat="once")
    story.as_key("alice", "send", it.repeated.body, repeat="once", answer=it.repeated.answer,
                 headers={"idempotency-replayed": "true"})
    it.replay = story.history.calls[-1]
    story.receive("bob", it.repeated)
    # A send without a response, whose envelope was stored.
    it.unknown = story.send("alice", "bob")
    it.unknown_answer, it.unknown.answer, it.unknown.status, it.unknown.headers = it.unknown.answer, {}, None, {}
    it.unknown_delivery = story.receive("bob", SimpleNamespace(answer=it.unknown_answer))


def fail_and_bounce(story, it):
    """Lets one delivery fail once, and another one until it bounces."""
    it.retried = story.send("alice", "bob")
    it.failure = story.receive("bob", it.retried, status=500)
    story.wait(0.1)
    it.retry = story.receive("bob", it.retried)
    it.lost = story.send("alice", "bob")
    for pause in (*(pause * 1.05 for pause in (0.1, 0.2, 0.4, 0.8, 1.6, 1.6)), 0):
        it.last_failure = story.receive("bob", it.lost, status=500)
        story.wait(pause)
    it.bounce = story.bounce("alice", it.lost, "exhausted")


def redeliver(story, it):
    """Asks for a delivered event again."""
    body = {"webhook_id": "wh_bob", "envelope_id": it.retried.answer["envelope_id"]}
    it.redeliver = story.as_key("bob", "redeliver", body, answer={**body, "outcome": "pending"})
    story.wait(0.2)
    it.redelivered = story.receive("bob", it.retried)
    story.wait(8)


def refuse_by_policy(story, it):
    """Refuses a sender, by a block and by an empty allowlist."""
    story.policy("carol", blocked=["ak_dave"])
    it.blocked = refuse_send(story, "dave", "carol", "RECIPIENT_REFUSES")
    story.policy("carol", blocked=[], accept="nobody")
    it.unwanted = refuse_send(story, "alice", "carol", "RECIPIENT_REFUSES")
    story.policy("carol", accept="anyone")
    it.accepted = story.send("dave", "carol")
    it.waiting = story.status("carol", waiting=1)
    it.carol_registered = story.register("carol", "usage.threshold")
    it.carol_registered.answer["waiting"] = 1
    it.waited = story.receive("carol", it.accepted)
    payload = {"event": "usage.threshold", "event_id": "evt_threshold", "api_key_id": "ak_carol", "window": "day",
               "threshold": 80, "used": 80, "limit": 100, "resets_at": "2027-01-16T00:00:00.000Z",
               "metadata": {"timestamp": story.text(story.at)}}
    it.threshold = story.attempt("carol", "evt_threshold", payload)
    story.wait(8)


def refuse_send(story, sender, recipient, code):
    """Refuses an envelope with a text of its own."""
    text = f"sealed-text-0-{sender}-{recipient}"
    return story.refuse(sender, "send", {"to": f"ak_{recipient}", "message": text}, code, 403)


def use_foreign_ids(story, it):
    """Uses ids of other accounts and invented ids."""
    it.foreign = story.refuse("carol", "open", {"envelope_id": it.sent.answer["envelope_id"]}, probe="foreign")
    story.refuse("carol", "open", {"envelope_id": "env_invented"}, probe="invented")
    it.stranger = story.as_key("carol", "status", status=401, credential=story.sessions["ak_dave"], probe="stranger")


def end_credentials(story, it):
    """Ends a session, a token and a key."""
    token = "kt_" + "t" * 40
    story.as_key("dave", "token", {}, answer={
        **dict.fromkeys(("name", "api_key_id", "created_at", "expires_at")), "token_id": "tok_1", "token": token,
        "scopes": ["send"]})
    it.used_token = story.as_key("dave", "status", credential=token, status=403, answer={"code": "INSUFFICIENT_SCOPE"})
    story.as_key("dave", "revoke token", {"token_id": "tok_1"})
    it.ended_token = story.as_key("dave", "status", credential=token, status=401)
    story.call("rotate login secret", account="acct_dave", answer={"login_secret": secret("ls", "new")})
    it.old_login = story.call("login", body={"login_secret": secret("ls", "dave")}, status=401, account="acct_dave")
    ended = story.sessions["ak_dave"]
    story.as_key("dave", "logout", {}, credential=ended)
    it.ended_session = story.as_key("dave", "status", credential=ended, status=401)
    story.log_in("dave")
    it.revoked = story.call("revoke", "ak_dave")
    it.revoked_use = story.as_key("dave", "status", status=403)
    it.sent_to_revoked = refuse_send(story, "alice", "dave", "KEY_INACTIVE")


def expire(story, it):
    """Uses an envelope after its retention."""
    story.wait(26)
    it.expired_open = story.refuse("carol", "open", {"envelope_id": it.accepted.answer["envelope_id"]})
    body = {"webhook_id": "wh_bob", "envelope_id": it.sent.answer["envelope_id"]}
    it.expired_redeliver = story.refuse("bob", "redeliver", body)
    it.nothing_waits = story.status("carol")
