"""Invariants of repeated deliveries and of retention."""

from judge.bounds import CLOCK_S, DELIVERED_WITHIN_S, STARTED_WITHIN_S
from judge.deliveries import good_spans
from receiver import RESPONDING_MODES


def a_redelivery_starts_an_attempt(facts, verdict):
    """After an acknowledged `redeliver` an attempt of the event starts, also if another attempt was under way.

    The same holds for `recover` and the number of deliveries in its response. This does not hold if the webhook ends,
    the envelope expires, or the receiver is unreachable.
    """
    for call in facts.by_name["redeliver"] + facts.by_name["recover"]:
        if call.outcome != "ok" or call.probe:
            continue
        webhook = facts.by_id.get(call.body["webhook_id"])
        envelope = facts.envelopes.get(call.body.get("envelope_id"))
        sent = envelope.send.began if envelope else 0
        until = call.ended + DELIVERED_WITHIN_S + facts.lease_left(sent, call.began)
        if webhook is None or until > min(webhook.ended, facts.ended) or webhook.may_be_disabled(call.began, until):
            continue
        spans = list(good_spans(facts, webhook.port, call.began, until, RESPONDING_MODES))
        if spans != [(call.began, until)] or facts.is_disturbed(call.began, until):
            continue
        if call.name == "recover":
            _check_recovery(facts, verdict, webhook, call, until)
            continue
        if envelope is None or envelope.expires - CLOCK_S < until:
            continue
        attempts = facts.by_event[webhook.path, envelope.id]
        is_started = any(call.began < attempt.began < until for attempt in attempts)
        verdict.check(is_started, "no attempt started after a redeliver", call, webhook, *attempts[-3:])


def _check_recovery(facts, verdict, webhook, call, until):
    started = {attempt.event_id for attempt in facts.attempts
               if attempt.path == webhook.path and call.began < attempt.began < until}
    # Envelopes that expire until then may be among the recovered deliveries.
    expiring = sum(envelope.recipient == webhook.key and call.began - CLOCK_S < envelope.expires < until + CLOCK_S
                   for envelope in facts.envelopes.values())
    if not call.answer["dry_run"]:
        verdict.check(len(started) + expiring >= call.answer["recovered"],
                      f"{len(started)} attempts started after a recover", call, webhook)


def an_expired_envelope_is_gone(facts, verdict):
    """After retention an envelope is gone for every caller and every receiver.

    It cannot be opened or redelivered, has no receipt, does not count as waiting, and causes no event.
    """
    for name in ("open", "receipt", "redeliver"):
        for call in facts.by_name[name]:
            envelope = facts.envelopes.get(call.body["envelope_id"])
            if envelope and call.began > envelope.expires + CLOCK_S:
                verdict.check(call.outcome != "ok", f"{name} of an expired envelope was accepted "
                              f"{call.began - envelope.expires:.1f} s after its end", envelope.send, call)
    for attempt in facts.attempts:
        envelope = facts.envelopes.get(attempt.event_id)
        if envelope and attempt.began > envelope.expires:
            late = attempt.began - envelope.expires
            verdict.check(late < STARTED_WITHIN_S + facts.delay_at(attempt.began),
                          f"an attempt started {late:.1f} s after the end of retention", envelope.send, attempt)
    _check_waiting(facts, verdict)
    _check_rotations(facts, verdict)


def _check_waiting(facts, verdict):
    """Compares the number of waiting envelopes with the envelopes that may still be stored."""
    for call in facts.by_name["status"] + facts.by_name["register"]:
        if call.outcome != "ok":
            continue
        oldest = call.began - facts.settings.retention - CLOCK_S
        live = [sent for sent in facts.sends_to(call.key) if sent.ended > oldest and sent.began < call.ended]
        verdict.check(call.answer["waiting"] <= len(live),
                      f"{call.answer['waiting']} envelopes wait, and at most {len(live)} are stored", call)


def _check_rotations(facts, verdict):
    """Checks that the keys which get `identity.rotated` have a stored envelope in common with the changed key."""
    for attempt in facts.attempts:
        payload, webhook = attempt.payload(), facts.webhooks.get(attempt.path)
        if payload.get("event") != "identity.rotated" or webhook is None:
            continue
        at = facts.history.time_of(payload["metadata"]["timestamp"])
        own, changed = webhook.key, payload["api_key_id"]
        common = [sent for sent in facts.sends_to(own) if sent.key == changed]
        common += [sent for sent in facts.sends_to(changed) if sent.key == own]
        is_stored = any(sent.ended > at - facts.settings.retention - CLOCK_S for sent in common)
        verdict.check(is_stored, f"identity.rotated came, although all {len(common)} common envelopes have expired",
                      attempt, *common[-1:])
