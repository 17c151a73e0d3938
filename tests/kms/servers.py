"""Servers and commands of the binary, with a key provider."""

import json
import re
import subprocess
import sys
import time
import urllib.request


def call(url, path, body, token=None, identity=None):
    headers = {"content-type": "application/json"}
    if token:
        headers |= {"authorization": f"Bearer {token}", "x-did-api-key": identity["api_key_id"]}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


class Sealpost:
    """The binary, with an embedded database."""

    def __init__(self, binary, data):
        self.binary, self.data = binary, data

    def serve(self, provider):
        return Server([self.binary, "serve", "--dev", "--listen=127.0.0.1:0", "--ops-listen=off",
                       f"--data-dir={self.data}", f"--kek-provider={provider}"])

    def json(self, *arguments):
        done = subprocess.run([self.binary, *arguments, f"--data-dir={self.data}", "--json"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refused(self, provider):
        """Returns the error of a server that must not start."""
        server = self.serve(provider)
        _, errors = server.process.communicate(timeout=60)
        assert server.process.returncode == 1, errors
        return errors


class Server:
    """A running server."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (line := self.process.stderr.readline()):
            if found := re.search(r'listening="?(http://[0-9.:]+)', line):
                return found[1]
        sys.exit("tests/kms: the server did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=60)
