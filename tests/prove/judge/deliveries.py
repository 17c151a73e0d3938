"""Invariants of deliveries: recipients, repetition, retries, and the log."""

from collections import Counter

from judge.bounds import CLOCK_S, DELIVERED_WITHIN_S, NEVER
from judge.envelopes import first_open
from judge.facts import group
from receiver import GOOD_MODES, RESPONDING_MODES


def acknowledged_envelopes_are_delivered(facts, verdict):
    """Each webhook that existed and named the event gets each acknowledged envelope at least once.

    This holds if the receiver is good for long enough while the envelope is stored, and no fault interferes.
    """
    for webhook in facts.webhooks.values():
        if webhook.id is None or "envelope.received" not in webhook.events:
            continue
        for envelope in facts.envelopes.values():
            if envelope.recipient == webhook.key and webhook.register.ended < envelope.send.began:
                _check_delivery(facts, verdict, webhook, envelope)


def waiting_envelopes_reach_the_first_webhook(facts, verdict):
    """The first webhook of a key gets all stored envelopes that were sent before, unless its registration skips them.

    An opened envelope does not wait.
    """
    by_key = group(facts.webhooks.values(), lambda webhook: webhook.key)
    for webhooks in by_key.values():
        has_skipped = any(webhook.register.body.get("waiting") == "skip" for webhook in webhooks)
        first = min(webhooks, key=lambda webhook: webhook.register.began)
        others = [webhook for webhook in webhooks if webhook is not first]
        if first.id is None or has_skipped or any(other.register.began < first.register.ended for other in others):
            continue
        for envelope in facts.envelopes.values():
            is_waiting = envelope.recipient == first.key and envelope.acknowledged < first.register.began
            if is_waiting and first_open(facts, envelope.id)[0] == NEVER:
                _check_delivery(facts, verdict, first, envelope)


def _check_delivery(facts, verdict, webhook, envelope):
    known = max(envelope.acknowledged, webhook.register.ended)
    attempts = facts.by_event[webhook.path, envelope.id]
    if any(attempt.status is not None for attempt in attempts):
        verdict.check(True, "")
        return
    log = facts.log[webhook.id, envelope.id]
    if len(attempts) >= facts.settings.attempts_max or any(entry["outcome"] == "exhausted" for entry in log):
        return
    last = min(webhook.ended, envelope.expires - CLOCK_S, facts.ended)
    for began, ended in facts.quiet_spans(envelope.send.began, last):
        for start, end in good_spans(facts, webhook.port, max(began, known), ended):
            if may_be_exhausted(facts, webhook, known, start):
                return
            if end - start >= DELIVERED_WITHIN_S and not webhook.may_be_disabled(envelope.send.began - 1, end):
                verdict.check(False, f"an envelope was not delivered to {webhook.id} within {end - start:.1f} s",
                              envelope.send, webhook, *attempts, *log)
                return


def may_be_exhausted(facts, webhook, began, ended):
    """Returns whether all attempts of a delivery may have failed unseen, at a receiver without responses."""
    is_long_enough = ended - began > sum(facts.settings.pauses) * 0.9
    return is_long_enough and not facts.modes_between(webhook.port, began, ended) <= RESPONDING_MODES


def good_spans(facts, port, began, ended, modes=GOOD_MODES):
    """Yields the time spans in which a receiver is in one of the modes without interruption."""
    start = began
    changes = [mode for mode in facts.modes[port] if mode.at < ended]
    current = next((mode.name for mode in reversed(changes) if mode.at <= began), None)
    is_good = current in modes
    for mode in changes:
        if mode.at <= began:
            continue
        if is_good and mode.name not in modes:
            yield start, mode.at
        elif not is_good and mode.name in modes:
            start = mode.at
        is_good = mode.name in modes
    if is_good and ended > start:
        yield start, ended


def accepted_events_are_not_sent_again(facts, verdict):
    """A receiver that accepted an event does not get it again, unless its owner asked for it.

    A fault between the two requests may lose the outcome of the first.
    """
    asked = {}
    for call in facts.by_name["redeliver"] + facts.by_name["recover"]:
        if call.outcome != "refused":
            asked.setdefault(call.body["webhook_id"], []).append(call)
    for (path, event_id), attempts in facts.by_event.items():
        webhook = facts.webhooks.get(path)
        for first, second in zip(attempts, attempts[1:]):
            if not (first.is_success and first.is_prompt) or webhook is None:
                continue
            # A request during a lease adds an attempt, also if the attempt of the lease starts after the request.
            leased = first.began - facts.settings.webhook_lease
            asks = [call for call in asked.get(webhook.id, []) if call.began < second.began and
                    call.body.get("envelope_id", event_id) == event_id and
                    (call.ended > leased or call.outcome == "unknown")]
            is_excused = bool(asks) or facts.is_disturbed(first.began - 1, second.began)
            verdict.check(is_excused, "a receiver got an event again that it had accepted", first, second)


def failed_deliveries_follow_the_schedule(facts, verdict):
    """After a failed attempt the next one comes after the pause of the schedule, not before and not much later."""
    names = ("redeliver", "recover", "enable")
    changes_of = group([call for name in names for call in facts.by_name[name] if call.outcome != "refused"],
                       lambda call: call.body["webhook_id"])
    for (path, _), attempts in facts.by_event.items():
        webhook = facts.webhooks.get(path)
        payload = attempts[0].payload()
        if webhook is None or payload.get("event") == "webhook.test":
            continue
        # Retention ends the retries of every event.
        expires = facts.history.time_of(payload["metadata"]["timestamp"]) + facts.settings.retention
        # Calls that start attempts outside the schedule.
        changes = changes_of[webhook.id]
        for number, attempt in enumerate(attempts[: facts.settings.attempts_max - 1], 1):
            following = attempts[number] if number < len(attempts) else None
            if attempt.status is None or attempt.is_success or attempt.is_aborting or attempt.status == 410:
                break
            until = attempt.ended + facts.settings.pauses[number - 1] * 1.2 + DELIVERED_WITHIN_S
            until += 1.5 if "retry-after" in attempt.headers or attempt.status in (429, 503) else 0
            seen = following.began if following else until
            if any(call.began < seen and call.ended > attempts[0].began for call in changes):
                break
            if following:
                pause = following.began - attempt.ended
                verdict.check(pause > facts.settings.pauses[number - 1] - 0.05 or
                              facts.is_disturbed(attempts[0].began - 1, following.began),
                              f"attempt {number + 1} came {pause:.3f} s after the failure of attempt {number}",
                              attempt, following)
                continue
            _check_retry(facts, verdict, webhook, attempt, until, expires)


def _check_retry(facts, verdict, webhook, attempt, until, expires):
    """Checks that a failed attempt without a next one had a reason for it."""
    is_over = until > min(expires - CLOCK_S, facts.ended, webhook.ended)
    began = attempt.began - 1
    is_excused = (is_over or facts.is_disturbed(began - facts.settings.webhook_lease, until) or
                  webhook.may_be_disabled(began, until) or
                  not facts.modes_between(webhook.port, began, until) <= RESPONDING_MODES)
    verdict.check(is_excused, "a failed delivery was not retried", attempt, webhook)


def the_log_agrees_with_the_receivers(facts, verdict):
    """Each logged status was the response of the receiver to this event, and decides the outcome.

    A delivery is exhausted only after its last attempt, or if the receiver stopped it.
    """
    for (webhook_id, event_id), entries in facts.log.items():
        webhook = facts.by_id.get(webhook_id)
        if webhook is None:
            continue
        attempts = facts.by_event[webhook.path, event_id]
        responses = Counter(attempt.status for attempt in attempts if attempt.status is not None)
        logged = Counter(entry["status_code"] for entry in entries if entry["status_code"] is not None)
        verdict.check(all(count <= responses[status] for status, count in logged.items()),
                      f"the log has {dict(logged)}, the receiver sent {dict(responses)}", webhook, *entries, *attempts)
        for entry in entries:
            status = entry["status_code"]
            is_success = status is not None and 200 <= status < 300
            verdict.check(is_success == (entry["outcome"] == "succeeded"), "an outcome contradicts its status",
                          webhook, entry)
            if entry["outcome"] == "exhausted":
                is_stopped = any(attempt.is_aborting for attempt in attempts)
                verdict.check(is_stopped or status == 410 or entry["attempt"] >= facts.settings.attempts_max,
                              "a delivery is exhausted before its last attempt", webhook, entry)
