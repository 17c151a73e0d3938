"""A lying proxy between the service and its callers and receivers.

It tells one lie in a run. So a run shows that the whole model finds the lie, and not only the judge.
"""

import json
import socket
import threading
from urllib.parse import urlsplit

TIMEOUT_S = 30
# Lies begin after this number of matching requests.
TRUE_FIRST = 5


class Proxy:
    """Listens on one port for each node and each receiver, and forwards each request on a connection of its own."""

    def __init__(self, lie, addresses, receivers):
        self.lie, self.real_addresses = LIES[lie], addresses
        self.lock, self.seen, self.is_told = threading.Lock(), 0, False
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
        with self.lock:
            self.seen += 1
            if self.is_told or self.seen <= TRUE_FIRST:
                is_lie = False
            else:
                is_lie = self.is_told = True
        if not is_lie:
            return forward(target(), head, body)
        response, self.is_told = self.lie.tell(target(), head, body)
        return response


class Lie:
    """A lie about one request. `tell` returns the response, and whether it is a lie: some requests do not suit it."""

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
    "drop-delivery": Lie(False, "/", drop, {"log"}),
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
