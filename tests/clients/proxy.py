"""A proxy in front of a server that injects faults, the same in each run."""

import http.client
import json
import random
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Proxy:
    """Forwards requests to a server. The seed, the path and the number of the request to this path decide on the fault.

    - `rate`, `busy`: 429 or 503 instead of forwarding
    - `wait`: 429 with `Retry-After: 1`; a shorter pause is recorded
    - `expired`: ends the session of the request before forwarding
    - `lost`, `cut`: forwards, and closes the connection without the response or within it
    - `internal`, `gateway`: forwards, and responds 500 or 502 instead

    The last four hit only requests that the client may repeat.
    """

    def __init__(self, upstream, scenario, repeatable):
        self.upstream, self.repeatable = urlsplit(upstream).netloc, set(repeatable)
        self.seed, self.share = scenario["seed"], scenario["fault_share"]
        self.planned = {(fault["path"], fault["request"]): fault["fault"] for fault in scenario["faults"]}
        self.log, self.early, self.lock = defaultdict(list), [], threading.Lock()
        self.used_sessions = set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                proxy.handle(self)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handle(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        fault = self.fault_of(handler)
        if fault in PROBLEMS and fault != "internal":
            return respond(handler, *PROBLEMS[fault])
        if fault == "expired":
            self.forward("POST", "/v1/auth/logout", {"Authorization": handler.headers["Authorization"]}, b"")
        status, headers, content = self.forward(handler.command, handler.path, handler.headers, body)
        authorization = handler.headers.get("Authorization", "")
        if status == 200 and authorization.startswith("Bearer st_"):
            self.used_sessions.add(authorization)
        if fault == "lost":
            handler.close_connection = True
        elif fault == "cut":
            respond(handler, status, headers, content, len(content) // 2)
            handler.close_connection = True
        elif fault == "gateway":
            respond(handler, 502, {"Content-Type": "text/html"}, b"<html>Bad gateway</html>")
        elif fault == "internal":
            respond(handler, *PROBLEMS[fault])
        else:
            respond(handler, status, headers, content)

    def fault_of(self, handler):
        """Returns the fault of this request, and records both."""
        path = handler.path
        with self.lock:
            faults = self.log[path]
            self.check_pause(path, faults)
            fault = self.planned.get((path, len(faults) + 1)) or self.random_fault(handler, faults)
            faults.append(fault)
        return fault

    def random_fault(self, handler, faults):
        source = random.Random(f"{self.seed} {handler.path} {len(faults)}")
        # The clients try a limited number of times.
        if faults[-3:].count("none") == 0 and len(faults) >= 3 or source.random() >= self.share:
            return "none"
        possible = ["rate", "busy"]
        # A client logs in once for each try, so a new session stays valid until it was used.
        if handler.headers.get("Authorization") in self.used_sessions:
            possible.append("expired")
        is_repeatable = handler.path in self.repeatable or "Idempotency-Key" in handler.headers
        if is_repeatable or handler.command == "GET":
            possible += ["lost", "cut", "internal", "gateway"]
        return source.choice(possible)

    def check_pause(self, path, faults):
        if faults[-1:] == ["wait"] and time.monotonic() - self.waiting_since < 1:
            self.early.append(path)
        self.waiting_since = time.monotonic()

    def forward(self, method, path, headers, body):
        connection = http.client.HTTPConnection(self.upstream, timeout=30)
        kept = {name: value for name, value in headers.items() if name.lower() not in HOP_BY_HOP}
        connection.request(method, path, body=body or None, headers=kept)
        response = connection.getresponse()
        content = response.read()
        kept = {name: value for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP}
        connection.close()
        return response.status, kept, content


def respond(handler, status, headers, content, length=None):
    """Writes a response, or only the beginning of its body."""
    handler.send_response_only(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:length])


def problem(status, code, headers):
    members = {"type": f"https://example.com/docs/errors/{code}", "title": code, "status": status, "code": code,
               "detail": "injected by the test", "request_id": "test"}
    return status, {"Content-Type": "application/problem+json", **headers}, json.dumps(members).encode()


PROBLEMS = {
    "rate": problem(429, "RATE_LIMIT_EXCEEDED", {"Retry-After": "0"}),
    "wait": problem(429, "RATE_LIMIT_EXCEEDED", {"Retry-After": "1"}),
    "busy": problem(503, "SERVICE_UNAVAILABLE", {"Retry-After": "0"}),
    "internal": problem(500, "INTERNAL_ERROR", {}),
}
HOP_BY_HOP = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
