"""Plants one lie at a time into a true history, and checks that exactly the violated invariant reports it."""

import copy
import unittest

from history import Call, Leak
from judge.judge import INVARIANTS, judge
from tests.story import SETTINGS
from tests.truth import tell


class TestJudge(unittest.TestCase):
    """The judge accepts the truth and finds lies."""

    def setUp(self):
        self.it = tell()

    def found(self):
        """Returns the names of the invariants that the history violates."""
        self.verdict = judge(SETTINGS, self.it.history)
        return self.verdict.names()

    def assert_found(self, *names):
        """Checks that exactly these invariants are violated."""
        found = self.found()
        self.assertEqual(found, set(names), "\n".join(map(str, self.verdict.violations[:5])))

    def test_the_truth_passes_and_every_invariant_has_a_test(self):
        self.assert_found()
        unchecked = set(INVARIANTS) - set(self.verdict.checked)
        self.assertEqual(unchecked, set())
        tested = {name.split("_")[1] for name in dir(self) if name.startswith("test_")}
        self.assertLessEqual(set(INVARIANTS), tested)

    # Envelopes

    def test_opening_of_an_acknowledged_envelope_is_refused(self):
        self.deny(self.it.opened, 404, "ENVELOPE_NOT_FOUND")
        self.forget(self.it.opened_receipt)
        self.assert_found("opening")

    def test_opening_returns_another_sender(self):
        self.it.opened.answer["envelope_hash"] = "sha256:other"
        self.assert_found("opening")

    def test_opening_returns_another_text(self):
        self.it.opened.answer["message"] = self.it.repeated.body["message"]
        self.assert_found("opening", "idempotency")

    def test_origin_of_a_delivered_envelope_is_unknown(self):
        self.it.history.calls.remove(self.it.unknown)
        for window in ("day", "month"):
            self.it.last.answer["usage"][window]["used"] -= 1
        self.assert_found("origin")

    def test_origin_is_a_refused_send(self):
        self.it.unknown.status, self.it.unknown.answer = 403, {"code": "RECIPIENT_REFUSES", **self.problem(403)}
        self.it.unknown.headers = {"content-type": "application/problem+json"}
        self.it.history.calls.remove(self.it.blocked)
        self.it.history.calls.remove(self.it.unwanted)
        self.assertIn("origin", self.found())

    def test_origin_of_an_opened_envelope_is_a_refused_send(self):
        opened = copy.deepcopy(self.it.opened)
        opened.body = opened.answer["envelope_id"] = "env_other"
        opened.body, opened.answer["message"] = {"envelope_id": "env_other"}, self.it.blocked.body["message"]
        opened.headers.pop("ratelimit")
        self.it.history.add(opened)
        self.assert_found("origin")

    def test_idempotency_gives_a_second_envelope(self):
        self.it.replay.answer = {**self.it.replay.answer, "envelope_id": "env_second"}
        self.it.replay.headers.pop("idempotency-replayed")
        self.assertIn("idempotency", self.found())

    def test_idempotency_replays_another_response(self):
        self.it.replay.answer = {**self.it.replay.answer, "envelope_hash": "sha256:other"}
        self.assert_found("idempotency")

    # Deliveries

    def test_delivery_is_dropped(self):
        self.it.history.attempts.remove(self.it.delivery)
        self.drop_from_log(self.it.sent)
        self.it.notified.answer |= {"state": "sent", "notified_at": None}
        self.it.opened_receipt.answer["notified_at"] = None
        self.assert_found("delivery")

    def test_waiting_envelope_is_not_delivered(self):
        self.it.history.attempts.remove(self.it.waited)
        self.assert_found("waiting")

    def test_payload_has_a_further_member(self):
        self.it.delivery.body = self.it.delivery.body.replace('"event":', '"subject": "x", "event":')
        self.assert_found("payload")

    def test_payload_has_a_wrong_signature(self):
        headers = self.it.delivery.headers
        headers["webhook-signature"] = headers["x-service-signature"] = "v1," + "A" * 43 + "="
        self.assert_found("payload")

    def test_payload_has_an_old_timestamp(self):
        self.it.delivery.began += 6
        self.it.delivery.ended += 6
        self.assertIn("payload", self.found())

    def test_payload_contains_a_message(self):
        self.it.delivery.headers["x-note"] = self.it.sent.body["message"]
        self.assert_found("payload")

    def test_duplicates_of_an_accepted_event(self):
        again = copy.deepcopy(self.it.delivery)
        again.began, again.ended = again.began + 1, again.ended + 1
        self.it.history.add(again)
        self.assert_found("duplicates")

    def test_schedule_is_not_followed(self):
        self.it.retry.began = self.it.failure.ended + 0.001
        self.assert_found("schedule")

    def test_schedule_ends_before_the_last_attempt(self):
        for attempt in (self.it.retry, self.it.redelivered):
            self.it.history.attempts.remove(attempt)
        self.it.history.calls.remove(self.it.redeliver)
        self.drop_from_log(self.it.retried)
        self.assert_found("schedule")

    def test_log_has_another_status(self):
        entry = self.log_entries(self.it.retried)[0]
        entry["status_code"] = 404
        self.assert_found("log")

    def test_log_takes_a_failure_for_a_success(self):
        self.log_entries(self.it.retried)[0]["outcome"] = "succeeded"
        self.assert_found("log")

    def test_log_exhausts_a_delivery_early(self):
        self.log_entries(self.it.retried)[0]["outcome"] = "exhausted"
        self.assert_found("log")

    def test_redelivery_starts_no_attempt(self):
        self.it.history.attempts.remove(self.it.redelivered)
        del self.log_entries(self.it.retried)[-1]
        self.assert_found("redelivery")

    def test_redelivery_is_only_the_attempt_under_way(self):
        self.it.redelivered.began = self.it.redeliver.began - 0.5
        self.assertIn("redelivery", self.found())

    # Limits

    def test_limits_are_exceeded_in_a_minute(self):
        for call in [call for call in self.it.history.calls if call.name == "plan" and call.key == "ak_alice"]:
            call.body["minute"] = 3
        self.assert_found("limits")

    def test_limits_are_exceeded_in_a_month(self):
        for call in [call for call in self.it.history.calls if call.name == "plan" and call.key == "ak_alice"]:
            call.body["month"] = 2
        self.assert_found("limits")

    def test_usage_is_too_low(self):
        self.it.status.answer["usage"]["month"]["used"] -= 1
        self.assert_found("usage")

    def test_usage_is_too_high(self):
        self.it.last.answer["usage"]["day"]["used"] += 2
        self.assert_found("usage")

    def test_usage_may_include_an_abandoned_request_of_the_last_minute(self):
        last = self.it.last
        began = last.began - self.it.history.wall(last.began) % 60 - 0.2
        self.it.history.add(Call("send", began, began + 0.1, key=last.key, account=last.account,
                                 body={"to": "ak_bob", "message": "sealed-text-0-abandoned"}))
        last.answer["usage"]["minute"]["used"] += 1
        self.assertNotIn("usage", self.found())

    # Access

    def test_revocation_is_late_for_a_key(self):
        self.accept(self.it.revoked_use, self.it.status)
        self.assertIn("revocation", self.found())

    def test_revocation_is_late_for_a_session(self):
        self.accept(self.it.ended_session, self.it.status)
        self.assertIn("revocation", self.found())

    def test_revocation_is_late_for_a_token(self):
        self.accept(self.it.ended_token, self.it.status)
        self.assertIn("revocation", self.found())

    def test_revocation_is_late_for_a_login_secret(self):
        self.it.old_login.status = 200
        login = next(call for call in self.it.history.calls if call.name == "login")
        self.it.old_login.answer = {**login.answer, "session_token": "st_new"}
        self.assert_found("revocation")

    def test_scopes_do_not_bind_a_token(self):
        self.accept(self.it.used_token, self.it.status)
        self.assertIn("scopes", self.found())

    def test_revocation_does_not_stop_a_send_to_the_key(self):
        self.accept(self.it.sent_to_revoked, self.it.sent)
        self.it.sent_to_revoked.answer |= {"recipient": "ak_dave", "envelope_id": "env_late"}
        self.assertIn("revocation", self.found())

    def test_policy_lets_a_blocked_sender_through(self):
        self.accept(self.it.blocked, self.it.accepted)
        self.it.blocked.answer["envelope_id"] = "env_blocked"
        self.assertIn("policy", self.found())

    def test_policy_shows_its_reason(self):
        self.it.blocked.answer["detail"] = "you are blocked"
        self.assert_found("policy")

    def test_policy_refuses_an_accepted_sender(self):
        self.deny(self.it.accepted, 403, "RECIPIENT_REFUSES")
        self.assertIn("policy", self.found())

    def test_tenancy_ends_at_an_envelope(self):
        self.it.foreign.answer["detail"] = "it belongs to another key"
        self.assert_found("tenancy")

    def test_tenancy_ends_with_a_forbidden_envelope(self):
        self.deny(self.it.foreign, 403, "FORBIDDEN")
        self.assert_found("tenancy")

    def test_tenancy_ends_at_a_key(self):
        self.it.stranger.status = 200
        self.it.stranger.answer = dict(self.it.status.answer)
        self.assertIn("tenancy", self.found())

    def test_secrets_are_shown_again(self):
        self.it.last.answer["label"] = self.it.registered.answer["secret"]
        self.assert_found("secrets")

    def test_secrets_are_logged(self):
        self.it.history.add(Leak(0, "a message"))
        self.assert_found("secrets")

    def test_secrets_contain_messages(self):
        self.it.last.answer["label"] = self.it.sent.body["message"]
        self.assert_found("secrets")

    # Receipts

    def test_bounces_come_twice(self):
        again = copy.deepcopy(self.it.bounce)
        again.headers["webhook-id"] = "evt_again"
        again.body = again.body.replace(self.it.bounce.event_id, "evt_again")
        self.it.history.add(again)
        self.assertIn("bounces", self.found())

    def test_bounces_come_for_a_delivered_envelope(self):
        lost, delivered = (sent.answer["envelope_id"] for sent in (self.it.lost, self.it.repeated))
        self.it.bounce.body = self.it.bounce.body.replace(lost, delivered)
        self.assertIn("bounces", self.found())

    def test_bounces_may_come_in_the_millisecond_of_the_send(self):
        created = self.it.lost.answer["metadata"]["timestamp"]
        payload = self.it.bounce.payload()
        self.it.bounce.body = self.it.bounce.body.replace(payload["metadata"]["timestamp"], created)
        self.assertNotIn("bounces", self.found())

    def test_bounces_have_a_wrong_reason(self):
        self.it.bounce.body = self.it.bounce.body.replace("exhausted", "expired")
        self.assertIn("bounces", self.found())

    def test_causes_give_two_events(self):
        again = copy.deepcopy(self.it.threshold)
        again.headers["webhook-id"] = "evt_again"
        again.body = again.body.replace("evt_threshold", "evt_again")
        self.it.history.add(again)
        self.assertIn("causes", self.found())

    def test_causes_are_not_true(self):
        self.it.threshold.body = self.it.threshold.body.replace('"used": 80', '"used": 70')
        self.assertIn("causes", self.found())

    def test_receipts_go_back(self):
        self.it.opened_receipt.answer |= {"state": "notified", "opened_at": None}
        self.assert_found("receipts")

    def test_receipts_hide_a_delivery(self):
        self.it.notified.answer |= {"state": "sent", "notified_at": None}
        self.assert_found("receipts")

    def test_receipts_show_an_opening_too_early(self):
        self.it.notified.answer |= {"state": "opened", "opened_at": self.it.opened_receipt.answer["opened_at"]}
        self.assert_found("receipts")

    # Expiry

    def test_expiry_does_not_end_openings(self):
        self.accept(self.it.expired_open, self.it.opened)
        answer = self.it.accepted.answer
        names = ("envelope_id", "envelope_hash", "sender", "encryption", "metadata")
        self.it.expired_open.answer = {**self.it.opened.answer, **{name: answer[name] for name in names},
                                       "message": self.it.accepted.body["message"]}
        self.assert_found("expiry")

    def test_expiry_does_not_end_redeliveries(self):
        self.it.expired_redeliver.status = 200
        self.it.expired_redeliver.answer = dict(self.it.redeliver.answer)
        self.assert_found("expiry")

    def test_expiry_does_not_end_deliveries(self):
        late = copy.deepcopy(self.it.last_failure)
        late.began, late.ended = late.began + 30, late.ended + 30
        self.assertGreater(late.began, self.it.fault.ended)
        self.it.history.add(late)
        self.assertIn("expiry", self.found())

    def test_expiry_does_not_end_waiting(self):
        self.it.nothing_waits.answer["waiting"] = 1
        self.assert_found("expiry")

    def test_expiry_does_not_end_correspondence(self):
        story = self.it.story
        story.wait(30)
        payload = {"event": "identity.rotated", "event_id": "evt_rotated", "api_key_id": "ak_bob", "handle": None,
                   "replaced_by": None, "reason": "revoked", "metadata": {"timestamp": story.text(story.at)}}
        story.attempt("alice", "evt_rotated", payload)
        self.assert_found("expiry")

    # Responses

    def test_responses_are_no_problem_documents(self):
        self.it.foreign.headers["content-type"] = "text/plain"
        self.assert_found("responses")

    def test_responses_have_500_without_a_fault(self):
        self.it.expired_open.status = 500
        self.it.expired_open.answer["status"] = 500
        self.assert_found("responses")

    def test_responses_lack_a_member(self):
        del self.it.notified.answer["sent_at"]
        self.assert_found("responses")

    def test_recovery_fails(self):
        self.it.fault.is_recovered = False
        self.assert_found("recovery")

    # Changes of records

    def deny(self, call, status, code):
        """Makes a refusal of a successful call."""
        call.status, call.answer = status, {**self.problem(status), "code": code}
        call.headers |= {"content-type": "application/problem+json", "retry-after": "1"}

    def accept(self, call, like):
        """Makes a successful call of a refusal, with the response of another call."""
        call.status, call.answer = 200, dict(like.answer)
        call.headers = {**like.headers}

    @staticmethod
    def problem(status):
        """Returns the members of a problem document."""
        return {"type": "http://node/X", "title": "T", "status": status, "detail": "D", "request_id": "req_1"}

    def forget(self, call):
        """Removes the response of a call."""
        call.status, call.answer = None, {}

    def log_entries(self, sent):
        """Returns the entries of an envelope in the log of deliveries."""
        entries = self.it.story.deliveries["bob"]
        log = next(call for call in self.it.history.calls if call.name == "deliveries")
        log.answer["deliveries"] = entries
        return Entries(entries, sent.answer["envelope_id"])

    def drop_from_log(self, sent):
        """Removes an envelope from the log of deliveries."""
        entries = self.log_entries(sent)
        while entries:
            del entries[0]


class Entries:
    """A view of the entries of one envelope in a log, which changes the log."""

    def __init__(self, log, envelope_id):
        self.log, self.envelope_id = log, envelope_id

    def _numbers(self):
        return [number for number, entry in enumerate(self.log) if entry["envelope_id"] == self.envelope_id]

    def __len__(self):
        return len(self._numbers())

    def __getitem__(self, index):
        return self.log[self._numbers()[index]]

    def __delitem__(self, index):
        del self.log[self._numbers()[index]]


if __name__ == "__main__":
    unittest.main()
