"""Credentials, retries and errors, with a service in memory."""

import asyncio
import inspect
import itertools
import json
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from unittest import mock

import httpx

from sealpost import ApiError, AsyncSealpost, Login, Retry, Sealpost, Unreachable
from sealpost.exceptions import BY_CODE, MonthlyLimitExceeded, WebhookNotFound
from sealpost.models import ProblemCode, ResolveRequest
from sealpost.operations import RESOLVE_IDENTITY

LOGIN = Login("acct_1", "ls_1")
SENT = {
    "envelope_id": "env_1", "envelope_hash": "sha256:0", "status": "delivered", "state": "sent",
    "sender": "ak_1", "recipient": "ak_2",
    "encryption": {"algorithm": "a", "status": "sealed"},
    "metadata": {"payload_size_bytes": 1, "timestamp": "2026-01-01T00:00:00.000Z"},
}  # fmt: skip

ACTIVATED = {
    "api_key_id": "ak_1", "label": "Bob", "handle": None, "did": "did:key:z", "status": "active", "plan": "explorer",
    "account_id": "acct_1", "created_at": "2026-01-01T00:00:00.000Z", "login_secret": "ls_1", "recovery_code": "rc_1",
}  # fmt: skip
TOKEN = {
    "token_id": "tok_1", "token": "kt_1", "name": "orders", "api_key_id": "ak_1", "scopes": ["send"],
    "created_at": "2026-01-01T00:00:00.000Z", "expires_at": "2026-01-01T00:00:00.000Z",
}  # fmt: skip
UPDATED = {
    "webhook_id": "wh_1", "api_key_id": "ak_1", "url": "https://example.com/", "events": ["envelope.received"],
    "description": None, "status": "enabled", "paused": False, "disabled_reason": None, "failing_since": None,
    "created_at": "2026-01-01T00:00:00.000Z", "last_success_at": None, "last_failure": None, "warning": None,
    "connected": None, "of_a_newer_service": 1,
}  # fmt: skip

def problem(status, code, **headers):
    body = {"type": "about:blank", "title": "t", "status": status, "detail": "d", "code": code, "request_id": "r"}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json", **headers})


class Service:
    """Answers with the given responses in order. A login always succeeds."""

    def __init__(self, *responses):
        self.responses, self.requests, self.tokens = list(responses), [], []

    def __call__(self, request):
        if request.url.path.endswith("/v1/auth/login"):
            return httpx.Response(200, json={"session_token": f"st_{len(self.requests)}"})
        self.requests.append(request)
        self.tokens.append(request.headers.get("Authorization"))
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response


class Drip(httpx.AsyncByteStream, httpx.SyncByteStream):
    """A body that never ends."""

    def __iter__(self):
        return itertools.repeat(b" ")

    async def __aiter__(self):
        for part in self:
            yield part


def page_of(kind, next_cursor):
    entry = {"at": "2026-01-01T00:00:00.000Z", "kind": kind, "actor": "owner", "client_address": None, "detail": None}
    return httpx.Response(200, json={"entries": [entry], "next_cursor": next_cursor})


def client(service, **options):
    options = {"login": LOGIN, "api_key": "ak_1", "retry": Retry(first_pause_s=0)} | options
    sealpost = Sealpost("https://sealpost.test/base", **options)
    sealpost._http._transport = httpx.MockTransport(service)
    return sealpost


class Transport(unittest.TestCase):
    def test_an_expired_session_is_renewed_once(self):
        service = Service(httpx.Response(200, json=SENT), problem(401, "UNAUTHORIZED"), httpx.Response(200, json=SENT))
        sealpost = client(service)
        sealpost.send("bob", "one")
        sealpost.send("bob", "two")
        self.assertEqual(service.tokens, ["Bearer st_0", "Bearer st_0", "Bearer st_2"])

    def test_a_token_is_not_renewed(self):
        service = Service(problem(401, "UNAUTHORIZED"))
        with self.assertRaises(ApiError):
            client(service, login=None, token="kt_1").send("bob", "one")
        self.assertEqual(service.tokens, ["Bearer kt_1"])

    def test_a_send_keeps_its_key_in_all_tries(self):
        lost = httpx.ReadError("connection reset")
        service = Service(lost, problem(500, "INTERNAL_ERROR"), httpx.Response(200, json=SENT))
        client(service).send("bob", "one")
        self.assertEqual(len({request.headers["Idempotency-Key"] for request in service.requests}), 1)
        self.assertEqual(len(service.requests), 3)
        self.assertEqual(service.requests[0].url.path, "/base/v1/channel/send")

    def test_an_empty_text_is_not_replaced(self):
        service = Service(httpx.Response(200, json=SENT), problem(400, "INVALID_REQUEST"))
        sealpost = client(service)
        sealpost.send("bob", "one", idempotency_key="")
        with self.assertRaises(ApiError):
            sealpost.send_batch([], idempotency_key="")
        self.assertEqual([request.headers["Idempotency-Key"] for request in service.requests], ["", ""])
        service = Service(httpx.Response(200, json=TOKEN))
        client(service).account.create_token(name="orders", scopes=["send"], api_key_id="")
        self.assertEqual(json.loads(service.requests[0].content)["api_key_id"], "")
        with self.assertRaisesRegex(ValueError, "the token is empty"):
            client(Service(), login=None, token="")

    def test_a_token_with_a_line_break_is_refused_without_its_text(self):
        with self.assertRaisesRegex(ValueError, "^the token has a line break or another control character$"):
            client(Service(), login=None, token="kt_1\n")

    def test_texts_that_no_header_can_have_are_refused_without_a_request(self):
        with self.assertRaisesRegex(ValueError, "^the token begins or ends with a space$"):
            client(Service(), login=None, token="kt_1 ")
        for api_key in ("ak_1\n", " ak_1"):
            with self.assertRaisesRegex(ValueError, "^the API key "):
                client(Service(), api_key=api_key)
        for idempotency_key in ("a\nb", "a "):
            service = Service()
            with self.assertRaisesRegex(ValueError, "^Idempotency-Key "):
                client(service).send("bob", "one", idempotency_key=idempotency_key)
            with self.assertRaisesRegex(ValueError, "^Idempotency-Key "):
                client(service).send_batch([], idempotency_key=idempotency_key)
            self.assertEqual(service.requests, [])

    def test_a_request_that_may_have_been_processed_is_not_repeated(self):
        service = Service(httpx.ReadError("connection reset"))
        with self.assertRaises(Unreachable) as raised:
            client(service).webhooks.delete("wh_1")
        self.assertTrue(raised.exception.may_have_been_processed)
        service = Service(problem(500, "INTERNAL_ERROR"))
        with self.assertRaises(ApiError):
            client(service).webhooks.delete("wh_1")

    def test_a_request_that_was_not_sent_is_repeated(self):
        deleted = {"webhook_id": "wh_1", "deleted": True}
        service = Service(httpx.ConnectError("refused"), httpx.Response(200, json=deleted))
        client(service).webhooks.delete("wh_1")

    def test_a_response_of_a_proxy_may_follow_a_processed_request(self):
        page = httpx.Response(503, text="<html>", headers={"Content-Type": "text/html"})
        with self.assertRaises(ApiError):
            client(Service(page)).webhooks.delete("wh_1")
        client(Service(page, httpx.Response(200, json=SENT))).send("bob", "one")

    def test_a_long_wait_is_an_error_at_once(self):
        service = Service(problem(429, "MONTHLY_LIMIT_EXCEEDED", **{"Retry-After": "86400"}))
        with self.assertRaises(MonthlyLimitExceeded) as raised:
            client(service).send("bob", "one")
        self.assertEqual(raised.exception.retry_after_s, 86400)

    def test_retry_after_is_waited_for(self):
        in_two_hours = format_datetime(datetime.now(timezone.utc) + timedelta(hours=2), usegmt=True)
        service = Service(
            problem(429, "RATE_LIMIT_EXCEEDED", **{"Retry-After": "7"}),
            problem(503, "SERVICE_UNAVAILABLE", **{"Retry-After": in_two_hours}),
        )
        with mock.patch("sealpost._sync.transport.time.sleep") as sleep, self.assertRaises(ApiError) as raised:
            client(service).webhooks.delete("wh_1")
        sleep.assert_called_once_with(7)
        self.assertAlmostEqual(raised.exception.retry_after_s, 7200, delta=60)

    def test_an_iterator_follows_the_cursors(self):
        service = Service(page_of("login", "c"), page_of("logout", None))
        kinds = [entry.kind for entry in client(service).account.activity(page_size=1)]
        self.assertEqual(kinds, ["login", "logout"])
        bodies = [json.loads(request.content) for request in service.requests]
        self.assertEqual(bodies, [{"limit": 1}, {"limit": 1, "cursor": "c"}])

    def test_a_recovery_needs_no_credentials(self):
        secrets = {"account_id": "acct_1", "login_secret": "ls_2", "recovery_code": "rc_2"}
        service = Service(httpx.Response(200, json=secrets))
        recovered = client(service, login=None, api_key=None).recover("acct_1", "rc_1")
        self.assertEqual(recovered.login_secret, "ls_2")
        self.assertEqual(service.tokens, [None])

    def test_each_code_has_an_exception_and_unknown_codes_too(self):
        codes = {code.value for code in ProblemCode}
        self.assertEqual(set(BY_CODE), codes)
        for error in BY_CODE.values():
            with self.assertRaises(error) as raised:
                client(Service(problem(418, error.CODE)), retry=Retry(tries=1)).webhooks.delete("wh_1")
            self.assertIs(type(raised.exception), error)
        with self.assertRaises(WebhookNotFound):
            client(Service(problem(404, "WEBHOOK_NOT_FOUND"))).webhooks.delete("wh_1")
        with self.assertRaises(ApiError) as raised:
            client(Service(problem(418, "TEAPOT"))).webhooks.delete("wh_1")
        self.assertEqual(raised.exception.code, "TEAPOT")

    def test_a_page_is_not_a_response_of_the_service(self):
        page = httpx.Response(200, text="<html>", headers={"Content-Type": "text/html"})
        with self.assertRaisesRegex(ApiError, "check the URL"):
            client(Service(page)).send("bob", "one")

    def test_a_success_of_a_proxy_is_not_a_response_of_the_service(self):
        for kind in ("text/plain", "application/octet-stream", "application/xhtml+xml"):
            service = Service(httpx.Response(200, text="ok", headers={"Content-Type": kind}))
            with self.assertRaisesRegex(ApiError, "check the URL"):
                client(service).send("bob", "one")
        for response in (httpx.Response(204), httpx.Response(304), httpx.Response(200, json="ok")):
            with self.assertRaisesRegex(ApiError, "check the URL"):
                client(Service(response)).send("bob", "one")
        plain = httpx.Response(200, text="eyJ", headers={"Content-Type": "text/plain"})
        self.assertEqual(client(Service(plain)).status_list("1"), "eyJ")

    def test_an_incomplete_response_is_a_lost_response(self):
        problem_json = {"Content-Type": "application/problem+json"}
        cut = [httpx.Response(status, text='{"envelope_id": "env', headers=problem_json) for status in (200, 502)]
        undecodable = httpx.DecodingError("not gzip")
        client(service := Service(*cut, undecodable, httpx.Response(200, json=SENT))).send("bob", "one")
        self.assertEqual(len(service.requests), 4)
        with self.assertRaises(Unreachable) as raised:
            client(Service(cut[0])).webhooks.delete("wh_1")
        self.assertTrue(raised.exception.may_have_been_processed)

    def test_a_body_must_be_complete_in_time(self):
        response = httpx.Response(200, headers={"Content-Type": "application/json"}, stream=Drip())
        with mock.patch("sealpost.responses.monotonic", itertools.count().__next__):
            with self.assertRaisesRegex(Unreachable, "not complete in time"):
                client(Service(response), token="kt_1", login=None, retry=Retry(tries=1)).send("bob", "one")
        self.assertTrue(response.is_closed)

    def test_an_account_is_opened_without_credentials(self):
        account = client(Service(httpx.Response(200, json=ACTIVATED)), login=None, api_key=None).open_account("Bob")
        self.assertEqual((account.login, account.recovery_code), (Login("acct_1", "ls_1"), "rc_1"))
        self.assertEqual(account.identity.api_key_id, "ak_1")
        for shown in (repr(account), repr(LOGIN)):
            self.assertNotRegex(shown, "ls_|rc_")
        with self.assertRaisesRegex(ValueError, "has an account already"):
            client(Service()).open_account("Bob")

    def test_a_token_is_for_the_key_of_the_client_by_default(self):
        service = Service(*[httpx.Response(200, json=TOKEN)] * 2)
        sealpost = client(service)
        created = sealpost.account.create_token(name="orders", scopes=["send"])
        sealpost.account.create_token(name="orders", scopes=["send"], api_key_id="ak_2", login_secret="ls_2")
        bodies = [json.loads(request.content) for request in service.requests]
        common = {"name": "orders", "scopes": ["send"]}
        self.assertEqual(bodies[0], {"login_secret": "ls_1", "api_key_id": "ak_1", **common})
        self.assertEqual(bodies[1], {"login_secret": "ls_2", "api_key_id": "ak_2", **common})
        self.assertNotIn("kt_1", repr(created))
        with self.assertRaisesRegex(ValueError, "pass api_key_id"):
            client(service, api_key=None).account.create_token(name="orders", scopes=["send"])
        with self.assertRaisesRegex(ValueError, "pass login_secret"):
            client(service, login=None, token="kt_1").account.create_token(name="orders", scopes=["send"])

    def test_null_is_sent_only_where_it_has_an_effect(self):
        service = Service(*[httpx.Response(200, json=UPDATED)] * 2)
        updated = client(service).webhooks.update("wh_1", description=None)
        client(service).webhooks.update("wh_1", paused=True)
        bodies = [json.loads(request.content) for request in service.requests]
        self.assertEqual(bodies[0], {"webhook_id": "wh_1", "description": None})
        self.assertEqual(bodies[1], {"webhook_id": "wh_1", "paused": True})
        self.assertEqual(updated.to_dict(), UPDATED | {"created_at": "2026-01-01T00:00:00+00:00"})
        self.assertEqual(updated.additional_properties, {"of_a_newer_service": 1})
        self.assertEqual(updated.created_at, datetime(2026, 1, 1, tzinfo=timezone.utc))

    def test_help_is_readable(self):
        for method in (Sealpost.activate, Sealpost.policy, type(client(Service()).webhooks).update):
            self.assertNotIn(" at 0x", str(inspect.signature(method)))

    def test_any_operation_can_be_called(self):
        resolved = {"api_key_id": "ak_2", "handle": "bob", "label": None, "active": True}
        service = Service(httpx.Response(200, json=resolved))
        self.assertTrue(client(service).call(RESOLVE_IDENTITY, ResolveRequest(id="bob")).active)


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    def client(self, service, **options):
        options = {"login": LOGIN, "api_key": "ak_1", "retry": Retry(first_pause_s=0)} | options
        sealpost = AsyncSealpost("https://sealpost.test", **options)
        sealpost._http._transport = httpx.MockTransport(service)
        return sealpost

    async def test_an_expired_session_is_renewed_and_a_send_keeps_its_key(self):
        lost = httpx.ReadError("connection reset")
        service = Service(problem(401, "UNAUTHORIZED"), lost, httpx.Response(200, json=SENT))
        await self.client(service).send("bob", "one")
        self.assertEqual(service.tokens, ["Bearer st_0", "Bearer st_1", "Bearer st_1"])
        self.assertEqual(len({request.headers["Idempotency-Key"] for request in service.requests}), 1)

    async def test_retry_after_is_waited_for(self):
        busy = problem(503, "SERVICE_UNAVAILABLE", **{"Retry-After": "7"})
        service = Service(busy, httpx.Response(200, json={"webhook_id": "wh_1", "deleted": True}))
        with mock.patch("sealpost._async.transport.anyio.sleep") as sleep:
            await self.client(service).webhooks.delete("wh_1")
        sleep.assert_awaited_once_with(7)

    async def test_an_iterator_follows_the_cursors(self):
        service = Service(page_of("login", "c"), page_of("logout", None))
        kinds = [entry.kind async for entry in self.client(service).account.activity()]
        self.assertEqual(kinds, ["login", "logout"])

    async def test_a_body_must_be_complete_in_time(self):
        response = httpx.Response(200, headers={"Content-Type": "application/json"}, stream=Drip())
        with mock.patch("sealpost.responses.monotonic", itertools.count().__next__):
            with self.assertRaisesRegex(Unreachable, "not complete in time"):
                await self.client(Service(response), token="kt_1", login=None, retry=Retry(tries=1)).send("bob", "one")
        self.assertTrue(response.is_closed)

    async def test_concurrent_requests_share_a_login(self):
        service = Service(*[httpx.Response(200, json=SENT)] * 8)
        logins = []

        async def handle(request):
            logins.extend([request] if request.url.path.endswith("/v1/auth/login") else [])
            return service(request)

        sealpost = AsyncSealpost("https://sealpost.test", login=LOGIN, api_key="ak_1")
        sealpost._http._transport = httpx.MockTransport(handle)
        await asyncio.gather(*(sealpost.send("bob", "one") for _ in range(8)))
        self.assertEqual(len(logins), 1)


if __name__ == "__main__":
    unittest.main()
