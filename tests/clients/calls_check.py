"""Runs the programs whose parts the API reference shows. Each calls all operations with one client."""

import os
import re
import subprocess
import sys
import tempfile

from document import OTHER_PATHS, ROOT
from proxy import Proxy
from server import Server

CALLING = ROOT / "docs/examples/calling"
SCOPES = ["send", "open", "webhooks", "read"]
# The parts that other parts need.
CLIENTS = {"setup", "client", "owner", "visitor", "end"}
NO_FAULTS = {"seed": 0, "fault_share": 0, "faults": []}


def check_calls(binary, programs):
    """Runs each program against a new server."""
    for language, program in programs.items():
        with tempfile.TemporaryDirectory() as folder, Server(binary, folder) as server:
            paths = server.get("/openapi.json").json()["paths"]
            check_parts(language, paths)
            with Proxy(server.url, NO_FAULTS, []) as proxy:
                # One of the calls writes a file.
                ended = subprocess.run([str(word) for word in program], cwd=folder,
                                       env=os.environ | environment(server, proxy.url), stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        if ended.returncode:
            sys.exit(f"tests/clients: the {language} program of the reference failed:\n{ended.stdout}")
        check_operations(language, paths, proxy.log)
        print(f"{language}: the program of the reference calls all operations")


def environment(server, url):
    bob = server.new_identity("bob")
    wanted = {"login_secret": bob["login"]["login_secret"], "api_key_id": bob["key"], "name": "calls", "scopes": SCOPES}
    token = server.post("/v1/auth/tokens/create", wanted, bob).json()["token"]
    return {"SEALPOST_URL": url, "SEALPOST_TOKEN": token, "API_KEY": bob["key"],
            "ACCOUNT_ID": bob["login"]["account_id"], "LOGIN_SECRET": bob["login"]["login_secret"]}


def check_parts(language, paths):
    """Compares the parts of a program with the operations of the clients."""
    program, = (CALLING / language).iterdir()
    parts = set(re.findall(r"\[(\w+)\]$", program.read_text(), re.MULTILINE)) - CLIENTS
    operations = {operation["operationId"] for path, item in paths.items() if path not in OTHER_PATHS
                  for operation in item.values()}
    if parts != operations:
        sys.exit(f"tests/clients: {program} has no part for {operations - parts}, and parts for {parts - operations}")


def check_operations(language, paths, log):
    """Checks that the program has sent a request of every operation of the API."""
    missing = {path for path in paths if not any(re.fullmatch(re.sub(r"{\w+}", r"[^/]+", path), called) for called in log)}
    if missing - OTHER_PATHS:
        sys.exit(f"tests/clients: the {language} program did not call {sorted(missing - OTHER_PATHS)}")
