"""A lying proxy between the service and its callers and receivers.

It tells a few lies of one kind. So a run shows that the whole model finds the lies, and not only the judge.
"""

import json
import socket
import threading
from urllib.parse import urlsplit

TIMEOUT_S = 30
# Number of matching requests before a lie. A lie must not be so early that its traces expire during the run.
TRUE_DELIVERIES, TRUE_REQUESTS = 100, 10
# A single lie can be about a webhook that is deleted before its log is read.
LIES_MAX = 5


class Proxy:
    """Listens on one port for each node and each receiver, and forwards each request on a connection of its own."""

    def __init__(self, lie, addresses, receivers):
        self.lie, self.real_addresses = LIES[lie], addresses
        self.lock, self.seen, self.told = threading.Lock(), 0, 0
        self.node_ports = [self._listen(lambda number=number: port_of(addresses()[number]), is_node=True)
                           for number in range(len(addresses()))]
        self.receiver_ports = {receiver.port: self._listen(lambda port=receiver.port: port, is_node=False)
                               for receiver in receivers}

    def addresses(self):
        """Returns the URL of the proxy for each node that runs."""
        real = self.real_addresses()
        return [url and f"http://127.0.0.1:{port}" for url, port in zip(real, self.node_ports)]

    def _listen(self, target, is_node):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        threading.Thread(target=self._accept, args=[listener, target, is_node], daemon=True).start()
        return listener.getsockname()[1]

    def _accept(self, listener, target, is_node):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self._serve, args=[connection, target, is_node], daemon=True).start()

    def _serve(self, connection, target, is_node):
        with connection:
            connection.settimeout(TIMEOUT_S)
            try:
                head, body = read_message(connection)
                if response := self._respond(head, body, target, is_node):
                    connection.sendall(response)
            except (OSError, ValueError):
                return

    def _respond(self, head, body, target, is_node):
        """Returns the response to a request, which may be a lie."""
        if is_node is self.lie.is_of_node and self.lie.matches(head, body):
            return self._lie(head, body, target)
        return forward(target(), head, body)

    def _lie(self, head, body, target):
        true_first = TRUE_REQUESTS if self.lie.is_of_node else TRUE_DELIVERIES
        with self.lock:
            self.seen += 1
            is_true = self.seen <= true_first or self.told >= LIES_MAX
        if is_true:
            return forward(target(), head, body)
        response, is_lie = self.lie.tell(target(), head, body)
        with self.lock:
            self.told += is_lie
        return response


class Lie:
    """A lie about one request. `tell` returns the response, and whether it is a lie: some requests do not suit it.

    At least one of the invariants must find the lie.
    """

    def __init__(self, is_of_node, path, tell, invariants):
        self.is_of_node, self.path, self.tell, self.invariants = is_of_node, path, tell, invariants

    def matches(self, head, body):
        """Returns whether a request suits the lie."""
        is_event = self.is_of_node or b'"envelope.received"' in body
        return head.startswith(f"POST {self.path}".encode()) and is_event


def drop(_port, _head, _body):
    """Accepts a delivery without forwarding it."""
    return b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", True


def repeat(port, head, body):
    """Forwards a delivery twice."""
    first = forward(port, head, body)
    is_accepted = first.startswith(b"HTTP/1.1 2")
    if is_accepted:
        forward(port, head, body)
    return first, is_accepted


def forge(port, head, body):
    """Changes a body, so that its signature is wrong."""
    return forward(port, head, body.replace(b'"sealed"', b'"opened"')), True


def change(**members):
    """Returns a lie that changes members of a successful response."""
    def tell(port, head, body):
        response = forward(port, head, body)
        if not response.startswith(b"HTTP/1.1 200"):
            return response, False
        head_of_response, _, text = response.partition(b"\r\n\r\n")
        content = json.loads(text)
        for name, changed in members.items():
            content[name] = changed(content[name])
        text = json.dumps(content).encode()
        return set_length(head_of_response, len(text)) + text, True
    return tell


def refuse(port, head, body):
    """Turns an opened envelope into an unknown one."""
    response = forward(port, head, body)
    if not response.startswith(b"HTTP/1.1 200"):
        return response, False
    text = json.dumps({"type": "http://node/ENVELOPE_NOT_FOUND", "title": "T", "status": 404, "detail": "D",
                       "code": "ENVELOPE_NOT_FOUND", "request_id": "req_1"}).encode()
    head = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\nRateLimit: 1\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(text) + text, True


def add_use(usage):
    """Adds requests to the shown usage."""
    return {**usage, "day": {**usage["day"], "used": usage["day"]["used"] + 40}}


LIES = {
    "drop-delivery": Lie(False, "/", drop, {"delivery", "log"}),
    "repeat-delivery": Lie(False, "/", repeat, {"duplicates"}),
    "forge-delivery": Lie(False, "/", forge, {"payload"}),
    "refuse-opening": Lie(True, "/v1/channel/open", refuse, {"opening"}),
    "change-message": Lie(True, "/v1/channel/open", change(message=lambda text: text + "!"), {"opening"}),
    "change-usage": Lie(True, "/v1/did/status", change(usage=add_use), {"usage"}),
    "change-waiting": Lie(True, "/v1/did/status", change(waiting=lambda count: count + 500), {"expiry"}),
}


def forward(port, head, body):
    """Sends a request to a port of loopback. Returns the whole response; empty without one."""
    if port is None:
        return b""
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"connection:", b"content-length:"))]
    request = b"\r\n".join([*lines, b"Connection: close", b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body
    with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def read_message(connection):
    """Reads a request. Returns head and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            raise ValueError("no request")
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    headers = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(headers.get(b"content-length", b"0")):
        part = connection.recv(65536)
        if not part:
            raise ValueError("no whole request")
        body += part
    return head, body


def set_length(head, length):
    """Replaces the length in the head of a response."""
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
    return b"\r\n".join([*lines, b"Content-Length: %d" % length]) + b"\r\n\r\n"


def port_of(url):
    """Returns the port of a URL; `None` without a URL."""
    return url and urlsplit(url).port
