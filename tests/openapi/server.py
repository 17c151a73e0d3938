"""A server of the test build with identities for the checks."""

import os
import subprocess
from pathlib import Path

import requests

OPERATOR_NAME, OPERATOR_PASSWORD = "billing", "a password of the tests"

class Server:
    """A server with an embedded database and without rate limits by address."""

    def __init__(self, binary, folder):
        self.binary, self.data = binary, ["--data-dir", f"{folder}/data"]
        operators = write_password_file(binary, folder)
        self.process = subprocess.Popen(
            [binary, "serve", "--dev", *self.data, "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
             "--console-password-file", str(operators), "--log", "warn",
             "--activations-per-minute", "0", "--logins-per-minute", "0", "--account-changes-per-minute", "0",
             "--webhook-tests-per-minute", "0"],
            stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.url = self.process.stdout.readline().strip().removeprefix("sealpost listening on ")
        self.ops_url = self.process.stdout.readline().strip().removeprefix("sealpost ops on ")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def get(self, path):
        return requests.get(self.url + path, timeout=30)

    def post(self, path, body, identity=None):
        headers = {"Authorization": f"Bearer {identity['token']}", "X-DID-API-Key": identity["key"]} if identity else {}
        return requests.post(self.url + path, json=body, headers=headers, timeout=30)

    def new_identity(self, handle=None, label="Somebody"):
        """Creates an identity with high limits and an open session."""
        activated = self.post("/v1/did/activate", {"label": label, "handle": handle}).json()
        login = {name: activated[name] for name in ("account_id", "login_secret")}
        session = self.post("/v1/auth/login", login).json()
        limits = [f"--per-{span}=1000000" for span in ("minute", "day", "month", "second")]
        self.operate("plan", "set", activated["api_key_id"], "enterprise", *limits)
        metrics = ("--clarity=1", "--coherence=1", "--confidence=1", "--drift=0")
        self.operate("assess", activated["api_key_id"], *metrics)
        return {"key": activated["api_key_id"], "token": session["session_token"], "login": login}

    def operate(self, *command):
        subprocess.run([self.binary, "admin", *command, *self.data], check=True, stdout=subprocess.DEVNULL)


def write_password_file(binary, folder):
    """Writes the password file with one operator, and returns its path."""
    hashed = subprocess.run([binary, "console", "hash", OPERATOR_NAME, "--role", "operator"],
                            input=OPERATOR_PASSWORD + "\n", check=True, stdout=subprocess.PIPE, text=True)
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder) / "operators"
    with open(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as lines:
        lines.write(hashed.stdout)
    return file
