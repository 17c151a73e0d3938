"""Receives events and verifies them with standardwebhooks: pip install standardwebhooks."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

BODY_BYTES_MAX = 64 * 1024

webhook = Webhook(os.environ["WEBHOOK_SECRET"])  # whsec_...
# In production, use a table with a unique column: an event may arrive again days later.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(length)  # Raw bytes: the signature does not match re-encoded JSON.
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            # Put the event into a queue and process it later.
            print("new envelope", event["envelope_id"], flush=True)
        self.answer(204)  # Any 2xx, also for a repeated event.

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
