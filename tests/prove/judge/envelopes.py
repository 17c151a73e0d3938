"""Invariants of envelopes: an acknowledged envelope can be opened, nothing else exists, and repeats send once."""

from collections import Counter, defaultdict

from judge.bounds import CLOCK_S, NEVER


def acknowledged_envelopes_can_be_opened(facts, verdict):
    """The recipient can open an acknowledged envelope until it expires, unless the recipient's key is revoked.

    The response has the text, sender and hash of the acknowledged send.
    """
    for call in facts.by_name["open"]:
        envelope = facts.envelopes.get(call.body["envelope_id"])
        if envelope is None or call.probe or call.key != envelope.recipient:
            continue
        if call.outcome == "ok":
            sent = envelope.send.answer
            expected = (envelope.text, envelope.sender, sent["envelope_hash"], sent["metadata"], sent["encryption"])
            answer = call.answer
            found = (answer.get("message"), answer.get("sender"), answer.get("envelope_hash"), answer.get("metadata"),
                     answer.get("encryption"))
            verdict.check(found == expected, "an opened envelope differs from the sent one", envelope.send, call)
        is_stored = envelope.acknowledged < call.began and call.ended < envelope.expires - CLOCK_S
        if is_stored and call.code == "ENVELOPE_NOT_FOUND":
            verdict.check(False, "an acknowledged envelope cannot be opened", envelope.send, call)


def only_sent_envelopes_exist(facts, verdict):
    """Each envelope that a receiver or a recipient sees was sent, by its sender to its recipient.

    A refused send leaves no envelope. A send without a response leaves at most one.
    """
    sent_texts = {call.body["message"]: call for call in facts.sends if call.outcome != "refused"}
    refused_texts = {call.body["message"]: call for call in facts.sends if call.outcome == "refused"}
    for opened in (call for call in facts.by_name["open"] if call.outcome == "ok"):
        text = opened.answer["message"]
        source = sent_texts.get(text)
        verdict.check(source is not None, "an envelope exists that nothing has sent" if text not in refused_texts
                      else "a refused send left an envelope", opened, refused_texts.get(text, ""))
        if source:
            verdict.check(source.key == opened.answer["sender"], "an envelope has another sender", source, opened)
    _check_unacknowledged_deliveries(facts, verdict)


def _check_unacknowledged_deliveries(facts, verdict):
    """Matches delivered envelopes without an acknowledged send to sends without a response."""
    unknown = defaultdict(list)
    for call in facts.sends:
        if call.outcome == "unknown":
            unknown[call.key].append(call)
    strange = {}
    for attempt in facts.attempts:
        webhook, payload = facts.webhooks.get(attempt.path), attempt.payload()
        if webhook is None or payload.get("event") != "envelope.received":
            continue
        envelope = facts.envelopes.get(attempt.event_id)
        if envelope:
            is_right = envelope.recipient == webhook.key and envelope.sender == payload.get("sender")
            verdict.check(is_right, "an envelope was delivered to another key", envelope.send, attempt)
        else:
            strange.setdefault(attempt.event_id, attempt)
    counts = Counter()
    for attempt in strange.values():
        sender = attempt.payload().get("sender")
        created = facts.history.time_of(attempt.payload()["metadata"]["timestamp"])
        sources = [call for call in unknown[sender] if call.began - CLOCK_S < created]
        verdict.check(bool(sources), "an envelope was delivered that nothing has sent", attempt)
        counts[sender] += 1
    for sender, count in counts.items():
        lost = len(unknown[sender])
        verdict.check(count <= lost, f"{count} envelopes of {sender} came from {lost} sends without a response")


def a_repeated_request_sends_once(facts, verdict):
    """One `Idempotency-Key` stands for at most one envelope while the first envelope is stored.

    Each repeated request gets the first response, and another body is refused.
    """
    by_text = defaultdict(set)
    for id, envelope in facts.envelopes.items():
        by_text[envelope.text].add(id)
    for call in facts.by_name["open"]:
        if call.outcome == "ok":
            by_text[call.answer["message"]].add(call.body["envelope_id"])
    repeated = defaultdict(list)
    for call in facts.sends:
        if call.repeat:
            repeated[call.key, call.repeat].append(call)
    for calls in repeated.values():
        end = min(call.began for call in calls) + facts.settings.retention - CLOCK_S
        stored = [call for call in calls if call.outcome == "ok" and call.ended < end]
        for call in stored[1:]:
            is_same = call.body == stored[0].body and call.answer == stored[0].answer
            verdict.check(is_same, "a repeated request got another response", stored[0], call)
        first = [call for call in stored if "idempotency-replayed" not in call.headers]
        verdict.check(len(first) <= 1, "an Idempotency-Key was accepted twice", *first)
        if max(call.ended for call in calls) < end:
            for text in {call.body["message"] for call in calls}:
                ids = by_text[text]
                verdict.check(len(ids) <= 1, f"an Idempotency-Key sent several envelopes: {sorted(ids)}", *calls)


def first_open(facts, envelope_id):
    """Returns when the first opening may have begun, and when it had ended for certain."""
    opens = [call for call in facts.opens[envelope_id] if not call.probe]
    began = min((call.began for call in opens if call.outcome != "refused"), default=NEVER)
    return began, min((call.ended for call in opens if call.outcome == "ok"), default=NEVER)
