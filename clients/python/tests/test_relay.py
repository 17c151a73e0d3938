"""The relay, against a server in this process that speaks the protocol of the service."""

import asyncio
import contextlib
import json
import logging
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from unittest import mock

import anyio
import httpx
from test_receiving import OPENED, SECRET, signed
from websockets.datastructures import Headers
from websockets.http11 import Response
from websockets.sync.server import serve

from sealpost import ApiError, AsyncReceiver, AsyncSealpost, Login, Receiver, RelayResponse, Retry, Sealpost, Webhook
from sealpost.exceptions import KeyInactive, QuotaExceeded, Unauthorized, WebhookNotFound
from sealpost.models import EnvelopeReceived
from sealpost.relay import Delivery, Disconnected, pause_after
from sealpost.sockets import AsyncWorkers, Workers

logging.getLogger("sealpost.relay").addHandler(logging.NullHandler())
TIMEOUT_S = 30
PAUSES = ("sealpost._sync.relay.pause_after", "sealpost._async.relay.pause_after")


class FakeRelay:
    """A relay server. Each connection gets the next step: a refusal, or a function that speaks with the client."""

    def __init__(self, *steps):
        self.steps, self.requests, self.logins = list(steps), [], 0
        self.ended = threading.Event()

    def __enter__(self):
        self.server = serve(self.speak, "127.0.0.1", 0, process_request=self.admit)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.socket.getsockname()[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def admit(self, connection, request):
        self.requests.append(request)
        step = self.steps.pop(0)
        if callable(step):
            connection.step, connection.is_last = step, not self.steps
            return None
        status, code, *headers = step
        body = json.dumps({"type": "t", "title": "t", "status": status, "detail": "d", "code": code}).encode()
        fields = Headers([("Content-Type", "application/problem+json"), ("Content-Length", str(len(body))), *headers])
        return Response(status, HTTPStatus(status).phrase, fields, body)

    def speak(self, connection):
        connection.step(connection)
        if connection.is_last:
            self.ended.set()
            for _ in connection:
                pass

    def respond(self, request):
        """Responds to the other requests of the client."""
        if request.url.path.endswith("/v1/auth/login"):
            self.logins += 1
            return httpx.Response(200, json={"session_token": f"st_{self.logins}"})
        return httpx.Response(200, json=OPENED)

    @property
    def tokens(self):
        return [request.headers["Authorization"] for request in self.requests]


def frame(number, event=None):
    headers, body = event or signed(f"env_{number}")
    return json.dumps({"delivery": str(number), "headers": headers, "body": body.decode()})


@contextlib.contextmanager
def drains():
    """Sets the event when a relay begins to wait for its handlers."""
    draining = threading.Event()
    with contextlib.ExitStack() as patches:
        for workers in (AsyncWorkers, Workers):

            def drain(self, original=workers.drain):
                draining.set()
                return original(self)

            patches.enter_context(mock.patch.object(workers, "drain", drain))
        try:
            yield draining
        finally:
            draining.set()


def answers(connection, count):
    """Returns the next answers: their statuses by delivery."""
    received = [json.loads(connection.recv(TIMEOUT_S)) for _ in range(count)]
    return {answer["delivery"]: answer["status"] for answer in received}


class Threads(unittest.TestCase):
    """The synchronous client."""

    client_class, receiver_class = Sealpost, Receiver

    def setUp(self):
        for name in PAUSES:
            self.enterContext(mock.patch(name, lambda failures, fault: 0))
        self.results = []

    def function(self, work):
        """Returns a handler of the client."""
        return work

    def run_until_the_end(self, fake, relay):
        """Runs a relay until the last step of the server has ended."""
        stopping = threading.Thread(target=lambda: (fake.ended.wait(TIMEOUT_S), relay.stop()))
        stopping.start()
        try:
            self.run_relay(relay)
            fake.ended.wait(TIMEOUT_S)
        finally:
            fake.ended.set()
            stopping.join()

    def run_relay(self, relay):
        relay.run()

    def connect(self, fake, handler=None, **options):
        """Returns a relay, and a client whose other requests the fake answers."""
        credentials = {} if "token" in options else {"login": Login("acct_1", "ls_1"), "api_key": "ak_1"}
        client = self.client_class(fake.url + "/base", **credentials, **options)
        client._http._transport = httpx.MockTransport(fake.respond)
        if handler is None:
            receiver = self.receiver_class(client, Webhook(SECRET), self.function(self.results.append))
            return client.relay("wh_1", receiver.receive)
        return client.relay("wh_1", self.function(handler), webhook=Webhook(SECRET))

    def test_deliveries_reach_the_receiver(self):
        def deliver(connection):
            connection.send(frame(1))
            self.results.append(answers(connection, 1))
            connection.send(frame(2, signed("env_1")))  # The same event again.
            self.results.append(answers(connection, 1))

        with FakeRelay(deliver) as fake:
            self.run_until_the_end(fake, self.connect(fake))
        opened, *statuses = self.results
        self.assertEqual((opened.message, statuses), ("Noon.", [{"1": 204}, {"2": 204}]))
        request = fake.requests[0]
        self.assertEqual(request.path, "/base/v1/webhooks/relay?webhook_id=wh_1")
        self.assertEqual(request.headers["Authorization"], "Bearer st_1")
        self.assertEqual(request.headers["X-DID-API-Key"], "ak_1")

    def test_the_handler_gets_verified_events(self):
        def deliver(connection):
            connection.send("a frame of a newer service")
            connection.send(json.dumps({"delivery": "0", "headers": None, "body": 7}))
            connection.send(frame(1))
            headers, body = signed("env_2")
            connection.send(frame(2, (headers, body + b" ")))
            connection.send(frame(3, signed("env_faulty")))
            self.results.append(answers(connection, 3))

        def handle(event):
            self.assertIsInstance(event.body, EnvelopeReceived)
            if event.id == "env_faulty":
                raise RuntimeError("a fault of the program")

        with FakeRelay(deliver) as fake, self.assertLogs("sealpost.relay", "ERROR") as logs:
            self.run_until_the_end(fake, self.connect(fake, handle, token="kt_1"))
        self.assertEqual(self.results, [{"1": 204, "2": 401, "3": 500}])
        self.assertIn("a fault of the program", logs.output[0])
        self.assertEqual(fake.tokens, ["Bearer kt_1"])

    def test_a_response_can_have_more_than_a_status(self):
        def deliver(connection):
            connection.send(frame(1))
            self.results.append(json.loads(connection.recv(TIMEOUT_S)))

        def refuse(headers, body):
            return RelayResponse(503, retry_after_s=7, body="busy")

        with FakeRelay(deliver) as fake:
            relay = self.connect(fake, lambda event: None)
            relay._handle = self.function(refuse)
            self.run_until_the_end(fake, relay)
        self.assertEqual(self.results, [{"delivery": "1", "status": 503, "retry_after": 7, "body": "busy"}])

    def test_a_lost_connection_is_opened_again(self):
        def deliver(connection):
            connection.send(frame(1))
            self.results.append(answers(connection, 1))

        busy = (503, "SERVICE_UNAVAILABLE")
        rotating = (403, "KEY_INACTIVE", ("Retry-After", "0"))
        with FakeRelay(lambda connection: connection.close(1011), busy, rotating, deliver) as fake:
            self.run_until_the_end(fake, self.connect(fake, lambda event: None))
        self.assertEqual(len(fake.requests), 4)
        self.assertEqual(self.results, [{"1": 204}])

    def test_lost_connections_that_still_count_only_delay_the_relay(self):
        counted = (403, "QUOTA_EXCEEDED")
        with FakeRelay(lambda connection: connection.close(1011), counted, counted, lambda connection: None) as fake:
            self.run_until_the_end(fake, self.connect(fake, lambda event: None))
        self.assertEqual(len(fake.requests), 4)

    def test_a_refusal_ends_the_relay(self):
        for status, code, error in (
            (401, "UNAUTHORIZED", Unauthorized),
            (403, "KEY_INACTIVE", KeyInactive),
            (403, "QUOTA_EXCEEDED", QuotaExceeded),
            (404, "WEBHOOK_NOT_FOUND", WebhookNotFound),
        ):
            with self.subTest(code), FakeRelay((status, code)) as fake, self.assertRaises(error):
                self.run_until_the_end(fake, self.connect(fake, lambda event: None, token="kt_1"))

    def test_an_ended_session_is_renewed(self):
        rejected = (401, "UNAUTHORIZED")
        ended = lambda connection: connection.close(1008, "the session or API token has ended")  # noqa: E731
        with FakeRelay(rejected, ended, rejected, lambda connection: None) as fake:
            self.run_until_the_end(fake, self.connect(fake, lambda event: None))
        self.assertEqual(fake.tokens, ["Bearer st_1", "Bearer st_2", "Bearer st_2", "Bearer st_3"])
        with FakeRelay(rejected, rejected) as fake, self.assertRaises(Unauthorized):
            self.run_until_the_end(fake, self.connect(fake, lambda event: None))

    def test_a_session_outlives_a_silent_connection(self):
        silent = lambda connection: connection.close(1008, "the receiver was silent for 60 seconds")  # noqa: E731
        with FakeRelay(silent, silent, lambda connection: None) as fake:
            self.run_until_the_end(fake, self.connect(fake, lambda event: None))
        self.assertEqual(fake.tokens, ["Bearer st_1"] * 3)

    def test_stopping_waits_for_running_handlers(self):
        running, release = threading.Semaphore(0), threading.Event()

        def deliver(connection):
            for number in range(33):
                connection.send(frame(number))
            for _ in range(32):
                running.acquire(timeout=TIMEOUT_S)
            self.results.append(running.acquire(timeout=0.2))  # The last delivery waits for a free place.
            relay.stop()
            release.set()
            self.results.append(len(answers(connection, 32)))

        def handle(event):
            running.release()
            release.wait(TIMEOUT_S)

        with FakeRelay(deliver) as fake:
            relay = self.connect(fake, handle)
            self.run_until_the_end(fake, relay)
        self.assertEqual(self.results, [False, 32])


    def test_a_final_refusal_waits_for_running_handlers(self):
        running = threading.Event()

        def deliver(connection):
            connection.send(frame(1))
            running.wait(TIMEOUT_S)
            connection.close(1011)

        with drains() as draining:

            def handle(event):
                running.set()
                draining.wait(TIMEOUT_S)
                self.results.append(event.id)

            with FakeRelay(deliver, (404, "WEBHOOK_NOT_FOUND")) as fake, self.assertRaises(WebhookNotFound):
                self.run_relay(self.connect(fake, handle, token="kt_1"))
            self.assertEqual(self.results, ["env_1"])

    def test_a_delivery_of_a_lost_connection_is_not_started(self):
        running, release = threading.Semaphore(0), threading.Event()

        def lose(connection):
            for number in range(33):
                connection.send(frame(number))
            for _ in range(32):
                running.acquire(timeout=TIMEOUT_S)
            connection.close(1011)
            release.set()

        def handle(event):
            self.results.append(event.id)
            running.release()
            release.wait(TIMEOUT_S)

        with FakeRelay(lose, lambda connection: None) as fake:
            self.run_until_the_end(fake, self.connect(fake, handle))
        self.assertEqual(len(self.results), 32)

    def test_a_response_that_cannot_be_sent_is_a_failure(self):
        def deliver(connection):
            connection.send(frame(1))
            self.results.append(answers(connection, 1))

        with FakeRelay(deliver) as fake, self.assertLogs("sealpost.relay", "ERROR"):
            relay = self.connect(fake, lambda event: None)
            relay._handle = self.function(lambda headers, body: RelayResponse(200, body=7))
            self.run_until_the_end(fake, relay)
        self.assertEqual(self.results, [{"1": 500}])


class EventLoop(Threads):
    """The asynchronous client passes the same tests. Its handlers wait in threads."""

    client_class, receiver_class = AsyncSealpost, AsyncReceiver

    def function(self, work):
        async def handle(*arguments):
            return await asyncio.to_thread(work, *arguments)

        return handle

    def run_relay(self, relay):
        async def run():
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(40))
            await relay.run()

        asyncio.run(run())


class Cancellation(unittest.TestCase):
    """The end of the task of an asynchronous relay."""

    def connect(self, fake, handle):
        client = AsyncSealpost(fake.url, token="kt_1")
        return client.relay("wh_1", handle, webhook=Webhook(SECRET))

    def check(self, run_and_cancel):
        received, handled = [], []

        def deliver(connection):
            connection.send(frame(1))
            received.append(answers(connection, 1))

        async def main(fake, draining):
            running = asyncio.Event()

            async def handle(event):
                running.set()
                await asyncio.to_thread(draining.wait, TIMEOUT_S)
                for _ in range(100):  # More turns of the event loop than an early end of the relay takes.
                    await asyncio.sleep(0)
                handled.append(event.id)

            await run_and_cancel(self.connect(fake, handle), running)
            self.assertEqual(handled, ["env_1"])

        with drains() as draining, FakeRelay(deliver) as fake:
            asyncio.run(main(fake, draining))
            fake.ended.wait(TIMEOUT_S)
        self.assertEqual(received, [{"1": 204}])

    def test_a_canceled_task_answers_first(self):
        async def run_and_cancel(relay, running):
            task = asyncio.create_task(relay.run())
            await running.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        self.check(run_and_cancel)

    def test_a_canceled_scope_answers_first(self):
        async def run_and_cancel(relay, running):
            async with anyio.create_task_group() as group:
                group.start_soon(relay.run)
                await running.wait()
                group.cancel_scope.cancel()

        self.check(run_and_cancel)

    def test_a_handler_that_runs_too_long_is_canceled(self):
        ended = []

        async def handle(event):
            try:
                relay.stop()
                await asyncio.Event().wait()
            finally:
                ended.append(event.id)

        async def main():
            await relay.run()
            self.assertEqual(ended, ["env_1"])

        with FakeRelay(lambda connection: connection.send(frame(1))) as fake:
            relay = self.connect(fake, handle)
            with mock.patch("sealpost.sockets.DRAIN_MAX_S", 0), self.assertLogs("sealpost.relay", "WARNING"):
                asyncio.run(main())


class Waits(unittest.TestCase):
    def test_a_requested_wait_has_whole_seconds_rounded_up(self):
        delivery = Delivery("1", {}, b"")
        for wait_s, sent in ((0, 0), (0.2, 1), (7, 7), (7.5, 8), (float("inf"), 10**9), (10**400, 10**9)):
            answer = json.loads(delivery.answer(RelayResponse(503, retry_after_s=wait_s)))
            self.assertEqual(answer, {"delivery": "1", "status": 503, "retry_after": sent})

    def test_a_header_may_have_a_fraction_and_any_length(self):
        request = httpx.Request("GET", "https://sealpost.test")
        for text, seconds in (
            ("0", 0.0),
            ("0.5", 0.5),
            ("9" * 400, float("inf")),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
            ("Thu, 01 Jan 99999999999999999999 00:00:00 GMT", None),
            ("-5", None),
            ("soon", None),
        ):
            with self.subTest(text):
                response = httpx.Response(503, headers={"Retry-After": text}, request=request)
                self.assertEqual(ApiError(response, {}).retry_after_s, seconds)

    def test_a_pause_is_not_too_long_for_a_sleep(self):
        response = httpx.Response(503, headers={"Retry-After": "9" * 400}, request=httpx.Request("GET", "https://sealpost.test"))
        fault = ApiError(response, {"code": "SERVICE_UNAVAILABLE"})
        self.assertEqual(Retry(retry_after_max_s=float("inf")).pause(1, fault), 1e9)
        self.assertIsNone(Retry().pause(1, fault))


class Pauses(unittest.TestCase):
    def test_pauses_double_and_honour_retry_after(self):
        with mock.patch("sealpost.relay.random.uniform", lambda low, high: high):
            pauses = [pause_after(failures, Disconnected("d")) for failures in (1, 2, 3, 7, 1000)]
        self.assertEqual(pauses, [0.5, 1, 2, 30, 30])
        request = httpx.Request("GET", "https://sealpost.test")
        over_limit = QuotaExceeded(httpx.Response(403, request=request), {"code": "QUOTA_EXCEEDED"})
        self.assertEqual(pause_after(1, over_limit), 30)


if __name__ == "__main__":
    unittest.main()
