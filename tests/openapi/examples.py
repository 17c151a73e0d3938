"""Runs the programs of the API reference, which call the endpoints in several languages."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from server import Server

HERE = Path(__file__).resolve().parent
CALLING = HERE.parent.parent / "docs/examples/calling"
NODE = Path(os.environ["SEALPOST_OPENAPI_NODE"])


def check_example_programs(document, binary):
    """Runs each program, each against a new server."""
    operations = {operation["operationId"] for item in document["paths"].values() for operation in item.values()}
    with tempfile.TemporaryDirectory(dir=NODE) as folder:
        options = ["--target", "esnext", "--module", "nodenext", "--strict", "--lib", "esnext,dom", "--outDir", folder]
        succeed({}, NODE / "node_modules/.bin/tsc", *options, CALLING / "typescript/calls.mts")
        for language, command in {
            "python": [sys.executable, CALLING / "python/calls.py"],
            "typescript": ["node", f"{folder}/calls.mjs"],
            "rust": [Path(binary).parent / "examples/call_endpoints"],
        }.items():
            calls = parts_of(language, operations)
            with Server(binary, f"{folder}/{language}") as server:
                bob = server.new_identity("bob")
                environment = {
                    "SEALPOST_URL": server.url, "SESSION_TOKEN": bob["token"], "API_KEY": bob["key"],
                    "ACCOUNT_ID": bob["login"]["account_id"], "LOGIN_SECRET": bob["login"]["login_secret"]}
                succeed(environment, *command)
            print(f"the {language} program of the reference calls {calls} operations")


def parts_of(language, operations):
    """Returns the number of operations that a program shows, and fails on unknown operations."""
    source, = (CALLING / language).iterdir()
    parts = set(re.findall(r"\[(\w+)\]$", source.read_text(), re.MULTILINE)) - {"setup", "credentials", "end"}
    if unknown := parts - operations:
        sys.exit(f"tests/openapi: {source} has parts for unknown operations: {sorted(unknown)}")
    return len(parts)


def succeed(environment, *command):
    ended = subprocess.run([str(word) for word in command], env=os.environ | environment, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode:
        sys.exit(f"tests/openapi: {command[0]} failed:\n{ended.stdout}")
