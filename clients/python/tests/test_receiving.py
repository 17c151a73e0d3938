"""The helpers for Flask and FastAPI, with a service in memory."""

import asyncio
import base64
import hashlib
import hmac
import io
import json
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import fastapi
import flask
import httpx
from fastapi.testclient import TestClient

from sealpost import AsyncReceiver, AsyncSealpost, Receiver, Sealpost, Webhook
from sealpost.fastapi import endpoint
from sealpost.flask import view

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OPENED = {
    "envelope_id": "env_1", "envelope_hash": "sha256:0", "sender": "ak_1", "sender_handle": None, "message": "Noon.",
    "thread": None, "reply_to": None, "type": None,
    "encryption": {"algorithm": "a", "status": "sealed"}, "opened_at": "2026-01-01T00:00:00.000Z",
    "metadata": {"payload_size_bytes": 1, "timestamp": "2026-01-01T00:00:00.000Z"},
}  # fmt: skip


def signed(id="env_1"):
    """Returns the headers and the body of an event."""
    metadata = {"payload_size_bytes": 1, "timestamp": "2026-01-01T00:00:00.000Z"}
    event = {
        "event": "envelope.received", "envelope_id": id, "envelope_hash": "sha256:0", "sender": "ak_1",
        "encryption": {"algorithm": "a", "status": "sealed"}, "metadata": metadata,
    }  # fmt: skip
    body, now = json.dumps(event).encode(), str(int(time.time()))
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    mac = hmac.new(key, f"{id}.{now}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(mac).decode()
    return {"webhook-id": id, "webhook-timestamp": now, "webhook-signature": signature}, body


def open_envelope(request):
    if json.loads(request.content)["envelope_id"] == "env_busy":
        problem = {"code": "RATE_LIMIT_EXCEEDED", "detail": "d", "title": "t", "status": 429}
        headers = {"Content-Type": "application/problem+json", "Retry-After": "3600"}
        return httpx.Response(429, json=problem, headers=headers)
    return httpx.Response(200, json=OPENED)


def post_chunked(web, headers, stream):
    """Sends a body of unknown length to a Flask application, and returns the status."""
    environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    return web.post("/hook", input_stream=stream, headers=headers, environ_overrides=environ).status_code


class Receiving(unittest.TestCase):
    def check(self, post, received):
        headers, body = signed()
        self.assertEqual([post(headers, body), post(headers, body)], [204, 204])
        self.assertEqual(received, ["Noon."], "a repeated event is processed once")
        self.assertEqual(post(headers, body + b" "), 401)
        self.assertEqual(post({}, body), 401)
        self.assertEqual(post(headers, b" " * 70_000), 413)
        self.assertEqual(post(*signed("env_busy")), 503)

    def test_flask(self):
        received = []
        client = Sealpost("https://sealpost.test", token="kt_1")
        client._http._transport = httpx.MockTransport(open_envelope)
        app = flask.Flask("test")
        app.post("/hook")(view(Receiver(client, Webhook(SECRET), lambda opened: received.append(opened.message))))
        web = app.test_client()
        self.check(lambda headers, body: web.post("/hook", data=body, headers=headers).status_code, received)
        headers, body = signed("env_2")
        self.assertEqual(post_chunked(web, headers, io.BytesIO(body)), 204)
        endless = io.BytesIO(b" " * 1_000_000)
        self.assertEqual(post_chunked(web, headers, endless), 413)
        self.assertEqual(endless.tell(), 65_537, "the view reads no more than it needs")

    def test_a_store_of_the_program_remembers_events(self):
        class Table(set):
            has = set.__contains__

        table, received = Table(), []
        client = Sealpost("https://sealpost.test", token="kt_1")
        client._http._transport = httpx.MockTransport(open_envelope)
        for _ in range(2):  # As if the program had started again.
            receiver = Receiver(client, Webhook(SECRET), lambda opened: received.append(opened.message), seen=table)
            self.assertEqual(receiver.receive(*signed()), 204)
        self.assertEqual((received, table), (["Noon."], {"env_1"}))

    def test_a_repeated_event_succeeds_only_after_the_first_request(self):
        running, release, received = threading.Event(), threading.Event(), []

        def on_envelope(opened):
            received.append(opened.message)
            running.set()
            if len(received) == 1:
                release.wait(30)
                raise RuntimeError("a fault of the program")

        client = Sealpost("https://sealpost.test", token="kt_1")
        client._http._transport = httpx.MockTransport(open_envelope)
        receiver, event = Receiver(client, Webhook(SECRET), on_envelope), signed()
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(receiver.receive, *event)
            running.wait(30)
            self.assertEqual(receiver.receive(*event), 503)
            release.set()
            self.assertRaises(RuntimeError, first.result)
        self.assertEqual([receiver.receive(*event), receiver.receive(*event)], [204, 204])
        self.assertEqual(len(received), 2)

    def test_a_repeated_event_succeeds_only_after_the_first_task(self):
        received = []

        async def main():
            running, release = asyncio.Event(), asyncio.Event()

            async def on_envelope(opened):
                received.append(opened.message)
                running.set()
                if len(received) == 1:
                    await release.wait()

            client = AsyncSealpost("https://sealpost.test", token="kt_1")
            client._http._transport = httpx.MockTransport(open_envelope)
            receiver, event = AsyncReceiver(client, Webhook(SECRET), on_envelope), signed()
            first = asyncio.create_task(receiver.receive(*event))
            await running.wait()
            second = await receiver.receive(*event)
            release.set()
            return await first, second, await receiver.receive(*event)

        self.assertEqual(asyncio.run(main()), (204, 503, 204))
        self.assertEqual(len(received), 1)

    def test_fastapi(self):
        received = []

        async def on_envelope(opened):
            received.append(opened.message)

        client = AsyncSealpost("https://sealpost.test", token="kt_1")
        client._http._transport = httpx.MockTransport(open_envelope)
        app = fastapi.FastAPI()
        app.post("/hook")(endpoint(AsyncReceiver(client, Webhook(SECRET), on_envelope)))
        web = TestClient(app)
        self.check(lambda headers, body: web.post("/hook", content=body, headers=headers).status_code, received)


if __name__ == "__main__":
    unittest.main()
