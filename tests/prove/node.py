"""The nodes under test: processes of `sealpost serve` on one database, and the commands of their operator."""

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

READY_WITHIN_S = 30


class Node:
    """A server process that can be killed, stopped and started again. Each start uses free ports."""

    def __init__(self, number, command, folder):
        self.number, self.command = number, command
        self.log_file = Path(folder) / f"node-{number}.log"
        self.process = self.url = self.ops_url = None

    def start(self):
        """Starts the server, and waits until it listens."""
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=log, text=True,
                                            stdin=subprocess.DEVNULL)
        lines = self.process.stdout
        url, ops_url = lines.readline().strip(), lines.readline().strip()
        if not ops_url:
            raise RuntimeError(f"node {self.number} did not start: {self.log_tail()}")
        self.ops_url = ops_url.removeprefix("sealpost ops on ")
        self.url = url.removeprefix("sealpost listening on ")
        # An unread pipe would block a server that prints more lines.
        threading.Thread(target=lines.read, daemon=True).start()

    def signal(self, which):
        """Sends a signal to the process, if it runs."""
        if self.process.poll() is None:
            self.process.send_signal(which)

    def kill(self):
        """Ends the process with SIGKILL."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def terminate(self):
        """Ends the process in order. Returns whether it ended with status 0 within 40 s."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=40) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def is_ready_soon(self):
        """Waits until `/readyz` responds 200. Returns false after 30 s."""
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            if self.ready_status() == 200:
                return True
            time.sleep(0.1)
        return False

    def ready_status(self):
        """Returns the status of `/readyz`, or `None` without a response."""
        parts = urlsplit(self.ops_url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()

    def log_tail(self):
        """Returns the last lines of the log."""
        return "\n".join(self.log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])


class Cluster:
    """All nodes of a run, with the commands of their operator."""

    def __init__(self, settings, folder, database_url):
        self.binary, self.folder = settings.binary, Path(folder)
        # Each node and the operator have a folder of their own, as on their own machines. SQLite has one folder.
        own = [self.folder / ("data" if database_url is None else f"data-{number}") for number in range(settings.nodes)]
        if database_url is None:
            self.database = []
            operator = own[0]
        else:
            operator = self.folder / "operator"
            kek = self.folder / "kek"
            line = subprocess.run([self.binary, "kek", "new"], check=True, stdout=subprocess.PIPE, text=True).stdout
            with open(os.open(kek, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                file.write(line)
            self.database = ["--database-url", database_url, "--kek-file", str(kek)]
        # Variables instead of arguments: not every command has each of the options.
        self.operator = {"SEALPOST_DATA_DIR": str(operator), **os.environ}
        if database_url:
            self.operator |= {"SEALPOST_DATABASE_URL": database_url, "SEALPOST_KEK_FILE": str(kek)}
        migrate = ["--migrate"] if database_url else []
        self.nodes = []
        for number, data in enumerate(own):
            command = [self.binary, "serve", "--data-dir", str(data), *self.database, *migrate, *settings.flags()]
            self.nodes.append(Node(number, command, folder))

    def start(self):
        """Starts all nodes."""
        for node in self.nodes:
            node.start()

    def operate(self, *command):
        """Runs an `admin` command. Returns its JSON output, or `None` if it failed."""
        done = subprocess.run([self.binary, "admin", *command, "--json"], check=False, env=self.operator,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode == 2:
            raise RuntimeError(f"wrong use of a command: {done.stderr}")
        if done.returncode != 0:
            return None
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {}

    def has_option(self, command, option):
        """Returns whether a command has an option."""
        help_command = [self.binary, "admin", *command, "--help"]
        return option in subprocess.run(help_command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def logs(self):
        """Yields the number of each node with each line of its log."""
        for node in self.nodes:
            for line in node.log_file.read_text(encoding="utf-8", errors="replace").splitlines():
                yield node.number, line

    def close(self):
        """Ends all nodes."""
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.signal(signal.SIGCONT)
                node.terminate()
