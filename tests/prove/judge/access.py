"""Invariants of access: ended credentials, the policy of a recipient, other accounts, and secrets."""

import json
from collections import defaultdict

from judge.bounds import CHANGED_WITHIN_S, CLOCK_S, NEVER
from secrets_seen import find_secrets

# Refusals that come before an id is looked up.
EARLY_REFUSALS = {"UNAUTHORIZED", "INSUFFICIENT_SCOPE", "KEY_INACTIVE", "RATE_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE"}
# The members of a problem document that differ between two equal refusals.
VARIABLE = {"request_id", "instance"}


def ended_credentials_are_refused(facts, verdict):
    """No node accepts a request that began after the acknowledged end of its key, session or token.

    Nothing reaches a revoked key, and its webhooks get nothing more.
    """
    ends = credential_ends(facts)
    for call in facts.calls:
        if call.name in ("revoke", "rotate key", "plan"):
            continue
        secret = call.body.get("login_secret") if call.name == "login" else call.credential
        end = ends.get(secret, NEVER)
        if call.began > end:
            late = f"{call.began - end:.3f} s"
            verdict.check(call.outcome != "ok", f"a credential was accepted {late} after its end", call)
        _, gone = facts.revoked.get(call.key, (NEVER, NEVER))
        if call.began > gone:
            verdict.check(call.outcome != "ok", "a revoked key was accepted", call)
        _, gone = facts.revoked.get(call.answer.get("recipient"), (NEVER, NEVER))
        if call.name == "send" and call.began > gone:
            verdict.check(call.outcome != "ok" or "idempotency-replayed" in call.headers,
                          "an envelope was sent to a revoked key", call)
    for attempt in facts.attempts:
        webhook = facts.webhooks.get(attempt.path)
        if webhook and attempt.began > webhook.gone:
            is_late = attempt.began > webhook.gone + CHANGED_WITHIN_S
            is_excused = facts.is_disturbed(webhook.gone - 1, attempt.began)
            verdict.check(not is_late or is_excused, "a deleted webhook got a request", webhook, attempt)


def tokens_allow_their_scopes_only(facts, verdict):
    """An API token is accepted for the calls that its scopes allow, and for no other call."""
    created = [call.answer for call in facts.by_name["token"] if call.outcome == "ok"]
    scopes = {answer["token"]: set(answer["scopes"]) for answer in created}
    for call in facts.calls:
        if call.credential in scopes:
            allowed = ALLOWED.get(call.name, set()) & scopes[call.credential]
            verdict.check(bool(allowed) or call.outcome != "ok", "a token without the scope was accepted", call)
            verdict.check(not allowed or call.code != "INSUFFICIENT_SCOPE", "a token with the scope was refused", call)


# The scopes that allow each call; none of the other calls takes a token.
ALLOWED = {
    "send": {"send"}, "receipt": {"send"}, "open": {"open"}, "status": {"read"},
    **dict.fromkeys(("list", "deliveries"), {"read", "webhooks"}),
    **dict.fromkeys(("register", "delete", "enable", "rotate-secret", "redeliver", "recover", "test"), {"webhooks"}),
}


def credential_ends(facts):
    """Returns when each session and token had ended for certain."""
    ends, owners, tokens = {}, defaultdict(list), {}
    for call in facts.calls:
        if call.name == "login" and call.outcome == "ok":
            owners[call.answer["account_id"]].append((call.ended, call.answer["session_token"]))
            # A clock that is set would change this; the run is void then.
            expires = facts.history.time_of(call.answer["expires_at"]) + CLOCK_S
            ends[call.answer["session_token"]] = expires
        elif call.name == "token" and call.outcome == "ok":
            owners[call.account].append((call.ended, call.answer["token"]))
            tokens[call.answer["token_id"]] = call.answer["token"]

    login_secrets = defaultdict(list)

    def end(credential, at):
        ends[credential] = min(ends.get(credential, NEVER), at)

    for call in facts.calls:
        if call.outcome != "ok":
            continue
        if "login_secret" in call.answer and call.name == "activate":
            login_secrets[call.answer["account_id"]].append(call.answer["login_secret"])
        if call.name == "logout":
            end(call.credential, call.ended)
        if call.name == "logout" and call.body.get("all") or call.name == "recover account":
            for created, credential in owners[call.account]:
                is_session = credential.startswith("st_")
                if created < call.began and (is_session or call.name == "recover account"):
                    end(credential, call.ended)
        if call.name in ("recover account", "rotate login secret"):
            # All earlier login secrets of the account, also those without a login.
            for secret in login_secrets[call.account]:
                end(secret, call.ended)
            login_secrets[call.account] = [call.answer["login_secret"]]
        if call.name == "revoke token" and call.body["token_id"] in tokens:
            end(tokens[call.body["token_id"]], call.ended)
    return ends


def the_policy_of_the_recipient_decides(facts, verdict):
    """A sender that the policy refuses never gets through after the policy was acknowledged, and others do.

    The refusal is the same for each reason.
    """
    changes = defaultdict(list)
    for call in facts.by_name["policy"]:
        if call.outcome != "refused":
            changes[call.key].append(call)
    refusals = {}
    for call in facts.sends:
        recipient = call.answer.get("recipient") if call.outcome == "ok" else call.body["to"]
        if call.code == "RECIPIENT_REFUSES":
            refusals.setdefault(problem_of(call), call)
        policy = policy_at(changes[recipient], call)
        if policy is None or recipient.startswith("@") or "idempotency-replayed" in call.headers:
            continue
        if must_refuse(facts, policy, call, recipient):
            verdict.check(call.outcome != "ok", f"a refused sender got through: {policy}", call)
        elif may_accept(policy, call):
            verdict.check(call.code != "RECIPIENT_REFUSES", f"an accepted sender was refused: {policy}", call)
    verdict.check(len(refusals) <= 1, "refusals by a policy differ", *refusals)


def policy_at(changes, call):
    """Returns the policy that certainly holds for a call, or `None` if a change overlaps."""
    before = [change for change in changes if change.began < call.ended]
    if not before:
        return {"accept": "anyone", "allowed": [], "blocked": []}
    last = before[-1]
    # Changes of one key never overlap, but a change without a response may still come into effect.
    is_known = last.outcome == "ok" and last.ended < call.began and all(it.outcome == "ok" for it in before)
    return last.answer if is_known else None


def must_refuse(facts, policy, call, recipient):
    """Returns whether a policy refuses the sender of a call for certain."""
    if call.key in policy["blocked"] or policy["accept"] == "nobody":
        return True
    if call.key in policy["allowed"]:
        return False
    return policy["accept"] == "allowlist" or (
        policy["accept"] == "contacts" and not may_be_contact(facts, recipient, call))


def may_accept(policy, call):
    """Returns whether a policy accepts the sender of a call for certain."""
    is_listed = policy["accept"] in ("allowlist", "contacts") and call.key in policy["allowed"]
    return call.key not in policy["blocked"] and (policy["accept"] == "anyone" or is_listed)


def may_be_contact(facts, key, call):
    """Returns whether a key may have sent an envelope to the sender of a call that is still stored."""
    oldest = call.began - facts.settings.retention - CLOCK_S
    return any(sent.key == key and sent.outcome != "refused" and sent.ended > oldest and sent.began < call.ended and
               (sent.body["to"].startswith("@") or call.key in (sent.answer.get("recipient"), sent.body["to"]))
               for sent in facts.sends)


def foreign_ids_look_unknown(facts, verdict):
    """Ids of another account look like ids that never existed, and a key of another account is refused."""
    # Each operation has its own advice.
    invented = {(call.name, call.code): problem_of(call)
                for call in facts.calls if call.probe == "invented" and call.status == 404}
    for call in facts.calls:
        if call.probe == "stranger":
            verdict.check(call.outcome != "ok", "a session of another account was accepted", call)
        has_response = call.status is not None and call.status != 500
        if call.probe == "foreign" and has_response and call.code not in EARLY_REFUSALS:
            is_unknown = call.status == 404 and problem_of(call) == invented.get((call.name, call.code), problem_of(call))
            verdict.check(is_unknown, "an id of another account does not look unknown", call)


def problem_of(call):
    """Returns the members of a problem document that must be equal for equal refusals."""
    members = {name: value for name, value in call.answer.items() if name not in VARIABLE}
    # Each node links to its own pages.
    members["type"] = members.get("type", "").rpartition("/")[2]
    return json.dumps(members, sort_keys=True)


def secrets_are_shown_once(facts, verdict):
    """A secret is in the one response that creates it, and in no other response, no request to a receiver and no log.

    Messages are in the responses to `open` only.
    """
    shown = {}
    texts = {call.body["message"] for call in facts.sends}
    mark = min(texts, default="-").rsplit("-", 1)[0] if texts else None
    for call in facts.calls:
        text = json.dumps(call.answer)
        for secret in find_secrets(text):
            verdict.check(secret not in shown, "a secret was shown again", shown.get(secret, ""), call)
            shown.setdefault(secret, call)
        if call.name != "open" and mark:
            verdict.check(mark not in text, "a response contains a message", call)
    for attempt in facts.attempts:
        secrets = find_secrets(attempt.body + str(attempt.headers))
        verdict.check(not secrets, "a request to a receiver contains a secret", attempt)
    for leak in facts.history.leaks:
        verdict.check(False, "a log contains a message or a secret", leak)
