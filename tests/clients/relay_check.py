"""Runs the relays of the clients against the service: each program sends itself messages, and receives them."""

import json
import subprocess
import sys
import tempfile

from server import Server

MESSAGES = ["Hello over a relay.", "Hello after the end of the session."]


def check_relay(binary, programs):
    with tempfile.TemporaryDirectory() as folder, Server(binary, folder) as server:
        probe = server.new_identity()
        body = {"url": "relay:", "events": ["envelope.received"]}
        if server.post("/v1/webhooks/register", body, probe).status_code == 400:
            print("this service has no relay: the relays of the clients were NOT run against it")
            return
        for client, program in programs.items():
            who = server.new_identity()
            task = {"url": server.url, "api_key": who["key"], "messages": MESSAGES, **who["login"]}
            ended = subprocess.run([str(word) for word in program], input=json.dumps(task), stdout=subprocess.PIPE,
                                   text=True, timeout=60, check=False)
            if ended.returncode or ended.stdout.splitlines() != MESSAGES:
                sys.exit(f"tests/clients: the relay of {client} reports {ended.stdout}")
            print(f"{client}: the relay receives and opens messages, also after the end of its session")
