"""Receives events and verifies them with Python's standard library only."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_BYTES_MAX = 64 * 1024
TOLERANCE_S = 5 * 60

secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"), validate=True)
# In production, use a table with a unique column: an event may arrive again days later.
seen = set()


def is_genuine(headers, body):
    """Whether one of the signatures is correct and at most five minutes old."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        return False
    content = f"{id}.{timestamp}.".encode() + body
    mac = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest())
    entries = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(b"v1," + mac, entry.encode()) for entry in entries)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(length)  # Raw bytes: the signature does not match re-encoded JSON.
        if not is_genuine(self.headers, body):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            # Put the event into a queue and process it later.
            print("new envelope", json.loads(body)["envelope_id"], flush=True)
        self.answer(204)  # Any 2xx, also for a repeated event.

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
