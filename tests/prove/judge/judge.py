"""Judges a history: runs every invariant, and collects the violations."""

from judge import access, deliveries, envelopes, limits, payloads, receipts, redelivery, responses
from judge.facts import Facts
from judge.verdict import Verdict

# The invariants. The first words of each function's documentation state the promise.
INVARIANTS = {
    "opening": envelopes.acknowledged_envelopes_can_be_opened,
    "delivery": deliveries.acknowledged_envelopes_are_delivered,
    "waiting": deliveries.waiting_envelopes_reach_the_first_webhook,
    "payload": payloads.deliveries_are_signed_and_contain_metadata_only,
    "origin": envelopes.only_sent_envelopes_exist,
    "idempotency": envelopes.a_repeated_request_sends_once,
    "limits": limits.limits_are_exact,
    "usage": limits.usage_equals_the_admitted_requests,
    "revocation": access.ended_credentials_are_refused,
    "scopes": access.tokens_allow_their_scopes_only,
    "duplicates": deliveries.accepted_events_are_not_sent_again,
    "schedule": deliveries.failed_deliveries_follow_the_schedule,
    "log": deliveries.the_log_agrees_with_the_receivers,
    "bounces": receipts.an_envelope_bounces_at_most_once_and_for_a_reason,
    "causes": receipts.other_events_come_once_for_each_cause,
    "receipts": receipts.receipts_never_go_back,
    "policy": access.the_policy_of_the_recipient_decides,
    "tenancy": access.foreign_ids_look_unknown,
    "secrets": access.secrets_are_shown_once,
    "redelivery": redelivery.a_redelivery_starts_an_attempt,
    "expiry": redelivery.an_expired_envelope_is_gone,
    "responses": responses.responses_have_the_documented_shape,
    "recovery": responses.every_node_recovers_from_faults,
}


def judge(settings, history):
    """Returns the verdict on a history."""
    facts, verdict = Facts(settings, history), Verdict()
    for name, invariant in INVARIANTS.items():
        verdict.invariant = name
        invariant(facts, verdict)
    return verdict
