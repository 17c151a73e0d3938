"""Invariants of receipts and bounces."""

from collections import defaultdict

from judge.access import policy_at
from judge.bounds import CLOCK_S, NEVER, RECORDED_WITHIN_S
from judge.envelopes import first_open


def an_envelope_bounces_at_most_once_and_for_a_reason(facts, verdict):
    """An envelope bounces at most once, only if no delivery succeeded, and never if it was opened before.

    The reason is true: retention ended, the recipient was revoked, or every delivery was exhausted.
    """
    events, seen = defaultdict(set), {}
    for attempt in facts.attempts:
        payload = attempt.payload()
        if payload.get("event") == "envelope.bounced":
            events[payload["envelope_id"]].add(attempt.event_id)
            seen.setdefault(attempt.event_id, attempt)
    for envelope_id, ids in events.items():
        verdict.check(len(ids) == 1, "an envelope bounced twice", *[seen[id] for id in ids])
        for id in ids:
            _check_bounce(facts, verdict, envelope_id, seen[id])


def _check_bounce(facts, verdict, envelope_id, attempt):
    payload, webhook = attempt.payload(), facts.webhooks.get(attempt.path)
    at = facts.history.time_of(payload["metadata"]["timestamp"])
    envelope = facts.envelopes.get(envelope_id)
    if envelope is None or webhook is None:
        return
    is_right = envelope.sender == webhook.key and envelope.recipient == payload["recipient"]
    verdict.check(is_right, "a bounce went to another key", envelope.send, attempt)
    _, opened = first_open(facts, envelope_id)
    verdict.check(opened > at - CLOCK_S, "an opened envelope bounced", envelope.send, attempt)
    for success in successes(facts, envelope):
        # The end of a webhook drops the outcomes of its attempts that are under way.
        stored = success.ended + RECORDED_WITHIN_S
        is_stored = success.is_prompt and stored < min(at, facts.webhooks[success.path].ended)
        verdict.check(not is_stored or facts.is_disturbed(success.began - 1, at), "a delivered envelope bounced",
                      success, attempt)
    revoked, _ = facts.revoked.get(envelope.recipient, (NEVER, NEVER))
    reason = payload["reason"]
    is_true = {
        "expired": at > envelope.expires - CLOCK_S,
        "recipient_revoked": revoked < at + CLOCK_S,
        # The times are in milliseconds: a receiver can end the first attempt in the millisecond of the send.
        "exhausted": at >= envelope.created,
    }.get(reason, False)
    verdict.check(is_true, f"the reason {reason} of a bounce is not true", envelope.send, attempt)


def other_events_come_once_for_each_cause(facts, verdict):
    """A change of a key gives one `identity.rotated` for each correspondent, and a threshold one `usage.threshold`."""
    causes = {}
    for attempt in facts.attempts:
        payload, webhook = attempt.payload(), facts.webhooks.get(attempt.path)
        if webhook is None or payload.get("event") not in CAUSES:
            continue
        cause = (webhook.key, *(str(payload.get(name)) for name in CAUSES[payload["event"]]))
        first = causes.setdefault(cause, attempt)
        verdict.check(first.event_id == attempt.event_id, "one cause gave two events", first, attempt)
        if payload["event"] == "usage.threshold":
            is_reached = payload["used"] * 100 >= payload["limit"] * payload["threshold"]
            verdict.check(is_reached and payload["api_key_id"] == webhook.key, "a threshold was not reached", attempt)


# The members that identify the cause of an event.
CAUSES = {
    "identity.rotated": ("event", "api_key_id", "reason", "metadata"),
    "usage.threshold": ("event", "window", "threshold", "resets_at"),
}


def successes(facts, envelope):
    """Returns the attempts of an envelope that a receiver accepted."""
    return [attempt for webhook in facts.webhooks.values() if webhook.key == envelope.recipient
            for attempt in facts.by_event.get((webhook.path, envelope.id), []) if attempt.is_success]


def receipts_never_go_back(facts, verdict):
    """The state of an envelope only advances, and agrees with deliveries and openings under the recipient's policy."""
    policies, changes = defaultdict(list), defaultdict(list)
    for call in facts.by_name["policy"]:
        if call.outcome != "refused":
            changes[call.key].append(call)
    for call in facts.by_name["receipt"]:
        envelope = facts.envelopes.get(call.body["envelope_id"])
        if envelope is None or call.outcome != "ok" or call.probe:
            continue
        policy = policy_at(changes[envelope.recipient], call)
        if policy is not None:
            policies[envelope.id].append((call, policy.get("receipts", "notified")))
    for envelope_id, receipts in policies.items():
        envelope = facts.envelopes[envelope_id]
        for call, policy in receipts:
            _check_receipt(facts, verdict, envelope, call, policy)
        for number, (first, first_policy) in enumerate(receipts):
            for second, policy in receipts[number + 1 :]:
                if policy == first_policy and first.ended < second.began:
                    _check_order(facts, verdict, first, second)


def _check_order(facts, verdict, first, second):
    """Compares two receipts of one envelope under one policy."""
    # A kill of the database may undo the newest outcomes.
    is_excused = facts.is_disturbed(first.began - 2, second.ended)
    rank = {"waiting": 0, "sent": 0, "bounced": 1, "notified": 2, "opened": 3}
    states = first.answer["state"], second.answer["state"]
    verdict.check(is_excused or rank[states[0]] <= rank[states[1]],
                  f"a receipt went back from {states[0]} to {states[1]}", first, second)
    for name in ("notified_at", "opened_at"):
        if first.answer[name] is not None:
            is_same = second.answer[name] is not None and abs(
                facts.history.time_of(first.answer[name]) - facts.history.time_of(second.answer[name])) < CLOCK_S
            verdict.check(is_excused or is_same, f"{name} of a receipt changed", first, second)


def _check_receipt(facts, verdict, envelope, call, policy):
    answer, state = call.answer, call.answer["state"]
    began, ended = first_open(facts, envelope.id)
    if policy == "none":
        verdict.check((state, answer["notified_at"], answer["opened_at"]) == ("sent", None, None),
                      "a receipt shows what the policy hides", call)
        return
    if policy == "opened":
        is_shown = ended > call.began or state == "opened"
        verdict.check(is_shown, "a receipt does not show an opening", envelope.send, call)
    else:
        verdict.check(answer["opened_at"] is None and state != "opened", "a receipt shows what the policy hides", call)
    verdict.check(state != "opened" or began < call.ended, "a receipt shows an opening that did not happen", call)
    accepted = successes(facts, envelope)
    verdict.check(answer["notified_at"] is None or any(attempt.began < call.ended for attempt in accepted),
                  "a receipt shows a delivery that no receiver accepted", envelope.send, call)
    for attempt in accepted:
        webhook = facts.webhooks[attempt.path]
        is_stored = attempt.is_prompt and attempt.ended + RECORDED_WITHIN_S < call.began and webhook.ended > call.ended
        if is_stored and not facts.is_disturbed(attempt.began - 1, call.ended):
            verdict.check(answer["notified_at"] is not None, "a receipt does not show a delivery", attempt, call)
