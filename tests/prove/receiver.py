"""Receivers of webhooks with changing behaviour. They write every request to the history.

A receiver is a port. Each registration of a webhook has its own path there, so that every attempt belongs to one
registration, even if the response to the registration was lost.
"""

import random
import socket
import threading
import time

from history import Attempt, Mode, now

# The modes with their weights. See `Receiver._respond`.
STEADY_MODES = {"healthy": 1, "slow": 1}
MODES = {"healthy": 6, "slow": 4, "failing": 3, "mixed": 3, "busy": 1, "redirecting": 1, "silent": 1, "cutting": 1,
         "early": 1, "aborting": 1, "gone": 1, "down": 2}
# Modes in which every attempt succeeds.
GOOD_MODES = frozenset(["healthy", "slow", "early"])
# Modes in which every attempt gets a response within the timeout.
RESPONDING_MODES = GOOD_MODES | {"failing", "busy", "redirecting", "aborting", "gone"}
# A response within this time counts as prompt. The rest of the timeout is for a busy machine.
PROMPT_S = 1.2
BODY_BYTES_MAX = 64 * 1024


class Receiver:
    """A receiver on one port of loopback."""

    def __init__(self, history, seed, modes):
        # `modes` has the weight of each mode in the random choice.
        self.history, self.random, self.modes = history, random.Random(seed), modes
        self.lock = threading.Lock()
        self.under_way = {}
        self.listener = self._listen(0)
        self.port = self.listener.getsockname()[1]
        self.mode = None
        self.set_mode("healthy")

    def set_mode(self, mode):
        """Changes the behaviour. `down` closes the port."""
        with self.lock:
            if mode == self.mode:
                return
            if mode == "down":
                self.mode = mode
                self.history.add(Mode(self.port, now(), mode))
                # `shutdown` wakes the thread that accepts connections.
                self.listener.shutdown(socket.SHUT_RDWR)
                self.listener.close()
                self.listener = None
                return
            if self.listener is None:
                self.listener = self._listen(self.port)
            self.mode = mode
            self.history.add(Mode(self.port, now(), mode))

    def change_weather(self):
        """Chooses a random mode."""
        self.set_mode(self.random.choices(list(self.modes), list(self.modes.values()))[0])

    def close(self):
        """Closes the port."""
        self.set_mode("down")

    def _listen(self, port):
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
        threading.Thread(target=self._accept, args=[listener], daemon=True).start()
        return listener

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        began = now()
        with connection:
            connection.settimeout(10)
            try:
                request = read_request(connection)
            except (OSError, ValueError):
                return
            if request is None:
                return
            path, headers, body = request
            attempt = Attempt(path, began, began, headers, body)
            with self.lock:
                self.under_way[id(attempt)] = attempt
            try:
                self._respond(connection, attempt)
            except OSError:
                attempt.status = None
            attempt.ended = now()
            attempt.is_prompt = attempt.status is not None and attempt.ended - attempt.began < PROMPT_S
            with self.lock:
                del self.under_way[id(attempt)]
            self.history.add(attempt)

    def _respond(self, connection, attempt):
        mode = self.mode
        if mode == "mixed":
            mode = self.random.choice(["healthy", "failing", "slow", "slow failing", "busy", "cutting"])
        attempt.mode = mode
        if mode.startswith("slow"):
            time.sleep(self.random.uniform(0.3, 0.9))
        if mode == "silent":
            time.sleep(4)
            return
        if mode == "cutting":
            connection.sendall(b"HTTP/1.1 200 O")
            return
        more = ""
        if mode == "early":
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
        if mode in ("failing", "slow failing"):
            status = self.random.choice([400, 401, 404, 500, 502])
        elif mode == "aborting":
            status, more = 500, "webhook-delivery: abort-message\r\n"
            attempt.is_aborting = True
        elif mode == "busy":
            status, more = self.random.choice([429, 503]), "Retry-After: 1\r\n"
        elif mode == "redirecting":
            status, more = 307, "Location: http://127.0.0.1:1/elsewhere\r\n"
        elif mode == "gone":
            status = 410
        else:
            status = self.random.choice([200, 202, 204])
        length = "" if status == 204 else "Content-Length: 0\r\n"
        connection.sendall(f"HTTP/1.1 {status} Status\r\n{length}{more}Connection: close\r\n\r\n".encode())
        attempt.status = status


def read_request(connection):
    """Reads a POST. Returns path, headers and body, or `None` if the client closed the connection before."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part or len(data) > BODY_BYTES_MAX:
            return None
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
    length = min(int(headers.get("content-length", 0)), BODY_BYTES_MAX)
    while len(body) < length:
        part = connection.recv(65536)
        if not part:
            return None
        body += part
    return first.split(" ")[1], headers, body.decode("utf-8", errors="replace")


class Weather:
    """Changes the modes of the receivers at random times until it is stopped."""

    def __init__(self, receivers, seed):
        self.receivers, self.random, self.is_over = receivers, random.Random(seed), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.is_over.wait(self.random.uniform(0.5, 2)):
            self.random.choice(self.receivers).change_weather()

    def clear(self):
        """Ends the changes, and makes every receiver healthy."""
        self.is_over.set()
        self.thread.join()
        for receiver in self.receivers:
            receiver.set_mode("healthy")
