"""Invariants of responses and of recovery from faults."""

# The members that each successful response has at least.
MEMBERS = {
    "activate": "api_key_id label handle did status plan account_id created_at",
    "login": "session_token token_type expires_at account_id",
    "token": "token_id token name api_key_id scopes created_at expires_at",
    "send": "envelope_id envelope_hash status sender recipient encryption metadata",
    "open": "envelope_id envelope_hash sender sender_handle message encryption metadata opened_at",
    "receipt": "envelope_id recipient sent_at state notified_at opened_at",
    "status": "api_key_id label handle did status plan account_id created_at governance usage throughput_per_second "
              "webhooks waiting waiting_more",
    "register": "webhook_id api_key_id url events secret status created_at waiting waiting_more",
    "list": "webhooks",
    "deliveries": "deliveries next_cursor",
    "redeliver": "webhook_id envelope_id outcome",
    "recover": "matched recovered dry_run more",
    "rotate-secret": "webhook_id secret",
    "test": "event_id outcome status_code error duration_ms response",
    "policy": "accept receipts listed allowed blocked",
}
PROBLEM = {"type", "title", "status", "detail", "code", "request_id"}
STATUSES = {200, 400, 401, 403, 404, 409, 422, 429, 500, 503}


def responses_have_the_documented_shape(facts, verdict):
    """Each response is the documented object or a problem document, and 500 comes only around faults."""
    for call in facts.calls:
        if call.status is None or "content-type" not in call.headers:
            continue
        if call.status == 200:
            missing = set(MEMBERS.get(call.name, "").split()) - call.answer.keys()
            verdict.check(not missing, f"a response has no {sorted(missing)}", call)
            verdict.check("x-request-id" in call.headers, "a response has no X-Request-Id", call)
            continue
        is_problem = (call.headers["content-type"] == "application/problem+json" and PROBLEM <= call.answer.keys() and
                      call.answer["status"] == call.status)
        verdict.check(is_problem and call.status in STATUSES, "a refusal is no problem document", call)
        if call.status in (429, 503):
            verdict.check("retry-after" in call.headers, "a response has no Retry-After", call)
        if call.status == 401:
            verdict.check(call.headers.get("www-authenticate") == "Bearer", "a 401 has no WWW-Authenticate", call)
        if call.status in (500, 503):
            is_excused = facts.is_disturbed(call.began - 2, call.ended + 2)
            verdict.check(is_excused, f"a {call.status} came without a fault", call)


def every_node_recovers_from_faults(facts, verdict):
    """After each fault every node is ready again, and a stopped node ends in order."""
    for fault in facts.history.faults:
        verdict.check(fault.is_recovered, "a node did not recover from a fault", fault)
