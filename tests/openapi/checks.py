"""The checks themselves; tests/openapi/run starts this with what it needs."""

import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import requests
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

HERE = Path(__file__).resolve().parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        with Server(sys.argv[1], folder) as server:
            document = server.get("/openapi.json").json()
            OpenAPIV31SpecValidator(document).validate()
            print("the document is valid OpenAPI", document["openapi"])
            print(f"{check_examples(document)} examples fit their schemas")
            print(f"{walk(server, Checked(document))} answers of the main job fit theirs")
            bob = server.newcomer("bob")
            print(f"{check_commands(server)} commands of the reference run as they stand")
            server.fuzz(bob)


class Server:
    """A server with an embedded database, and one caller whom no limit stops."""

    def __init__(self, binary, folder):
        self.binary, self.data = binary, ["--data-dir", f"{folder}/data"]
        self.process = subprocess.Popen(
            [binary, "serve", "--dev", *self.data, "--listen", "127.0.0.1:0", "--ops-listen", "off", "--log", "warn",
             "--activations-per-minute", "0", "--logins-per-minute", "0", "--account-changes-per-minute", "0"],
            stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.url = self.process.stdout.readline().strip().removeprefix("sealpost listening on ")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=60)

    def get(self, path):
        return requests.get(self.url + path, timeout=30)

    def post(self, path, body, who=None):
        headers = {"Authorization": f"Bearer {who['token']}", "X-DID-API-Key": who["key"]} if who else {}
        return requests.post(self.url + path, json=body, headers=headers, timeout=30)

    def newcomer(self, handle=None):
        """Somebody with a key that no limit stops, logged in."""
        activated = self.post("/v1/did/activate", {"label": "Somebody", "handle": handle}).json()
        login = {name: activated[name] for name in ("account_id", "login_secret")}
        session = self.post("/v1/auth/login", login).json()
        limits = [f"--per-{span}=1000000" for span in ("minute", "day", "month", "second")]
        self.operate("plan", "set", activated["api_key_id"], "enterprise", *limits)
        metrics = ("--clarity=1", "--coherence=1", "--confidence=1", "--drift=0")
        self.operate("assess", activated["api_key_id"], *metrics)
        return {"key": activated["api_key_id"], "token": session["session_token"], "login": login}

    def operate(self, *command):
        subprocess.run([self.binary, "admin", *command, *self.data], check=True, stdout=subprocess.DEVNULL)

    def fuzz(self, who):
        """Generated requests, as the one whose handle the examples name; seed and number of them are fixed."""
        spare = self.newcomer()
        environment = os.environ | {
            "SEALPOST_HOOKS": str(HERE / "hooks.py"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SEALPOST_CALLER": json.dumps(who),
            "SEALPOST_SPARE": json.dumps(spare),
        }
        command = ["schemathesis", "--config-file", str(HERE / "schemathesis.toml"), "run", f"{self.url}/openapi.json"]
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(command, env=environment, cwd=folder, check=False)
        if ended.returncode:
            sys.exit("tests/openapi: the server and its document do not agree")


class Checked:
    """Validates a value against a schema of the document."""

    def __init__(self, document):
        self.document = document

    def check(self, value, schema, where):
        whole = {**schema, "components": self.document["components"]}  # references start at the root
        validator = OAS31Validator(whole, format_checker=OAS31Validator.FORMAT_CHECKER)
        faults = [f"{'/'.join(map(str, fault.path))}: {fault.message}" for fault in validator.iter_errors(value)]
        if faults:
            sys.exit(f"tests/openapi: {where} does not fit its schema: {faults}")

    def answer(self, path, answer):
        """Whether an answer is one that the document names."""
        response = self.document["paths"][path]["post"]["responses"].get(str(answer.status_code))
        kind = answer.headers["Content-Type"]
        if response is None or kind not in response["content"]:
            sys.exit(f"tests/openapi: {path} answered {answer.status_code} as {kind}, which is not documented")
        self.check(answer.json(), response["content"][kind]["schema"], f"the answer of {path}")
        return answer.json()


def check_examples(document):
    """How many examples there are; each must fit the schema that it stands beside."""
    checked, count = Checked(document), 0
    for where, media in media_types(document, "#"):
        for name, example in media["examples"].items():
            if "$ref" in example:
                example = document["components"]["examples"][example["$ref"].rsplit("/", 1)[1]]
            checked.check(example["value"], media["schema"], f"{name} of {where}")
            count += 1
        if not media["examples"]:
            sys.exit(f"tests/openapi: {where} has no example")
    return count


def media_types(node, where):
    """Everything that has a schema with examples, wherever it stands."""
    if isinstance(node, dict):
        if "schema" in node and "examples" in node:
            yield where, node
        for name, child in node.items():
            yield from media_types(child, f"{where}/{name}")
    elif isinstance(node, list):
        for place, child in enumerate(node):
            yield from media_types(child, f"{where}/{place}")


def check_commands(server):
    """Pastes each command of the reference page into a shell, each as somebody who has just come and logged in: some of
    them end the session or replace the login secret."""
    page = server.get("/docs").text
    commands = [html.unescape(found) for found in re.findall(r"<code>(curl [^<]*)</code>", page)]
    for command in commands:
        who = server.newcomer()
        environment = os.environ | {"SESSION_TOKEN": who["token"], "API_KEY": who["key"]}
        shell = subprocess.run(["bash", "-c", command], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=False)
        # A status list is no JSON, but a credential.
        if "/v1/status/" in command:
            if shell.stdout.count(b".") != 2:
                sys.exit(f"tests/openapi: no credential came of {command}")
            continue
        try:
            code = json.loads(shell.stdout).get("code")
        except ValueError:
            sys.exit(f"tests/openapi: no JSON came of {command}")
        path = re.search(r"https?://[^/]+(/[^']*)", command)[1]
        if code is not None and code != REFUSED_EXAMPLES.get(path):
            sys.exit(f"tests/openapi: {code} came of {command}")
    return len(commands)


# The one refusal that a path's examples may meet: what they name belongs to somebody else here, or to nobody.
REFUSED_EXAMPLES = {
    "/v1/did/activate": "HANDLE_TAKEN",
    "/v1/auth/login": "UNAUTHORIZED",
    "/v1/channel/send": "KEY_NOT_FOUND",
    "/v1/channel/open": "ENVELOPE_NOT_FOUND",
    "/v1/webhooks": "WEBHOOK_NOT_FOUND",
    "/v1/badges/issue": "COMPLIANCE_CIRCUIT_FAILED",
    "/v1/compliance/validate": "COMPLIANCE_CIRCUIT_FAILED",
}


def walk(server, checked):
    """The main job, each answer held against the document; how many answers there were."""
    alice, bob, count = server.newcomer(), server.newcomer(), 0

    def call(who, path, body):
        nonlocal count
        count += 1
        return checked.answer(path, server.post(path, body, who))

    call(None, "/v1/did/activate", {"label": "Carol", "handle": "carol"})
    call(None, "/v1/auth/login", alice["login"])
    hook = call(bob, "/v1/webhooks/register", {"url": "https://example.com/hook", "events": ["envelope.received"]})
    sent = call(alice, "/v1/channel/send", {"to": bob["key"], "message": "Meet me at noon."})
    call(bob, "/v1/channel/open", {"envelope_id": sent["envelope_id"]})
    call(bob, "/v1/did/status", {})
    call(bob, "/v1/webhooks", {"action": "list"})
    for action in ("deliveries", "enable", "rotate_secret"):
        call(bob, "/v1/webhooks", {"action": action, "webhook_id": hook["webhook_id"]})
    call(bob, "/v1/webhooks", {"action": "recover", "webhook_id": hook["webhook_id"], "since": "2026-01-01T00:00:00Z"})
    call(bob, "/v1/webhooks", {"action": "redeliver", "webhook_id": hook["webhook_id"], "envelope_id": sent["envelope_id"]})
    call(bob, "/v1/webhooks", {"action": "delete", "webhook_id": hook["webhook_id"]})
    call(alice, "/v1/badges/issue", {})
    call(alice, "/v1/badges/issue", {"dry_run": True, "jurisdiction": "EU"})
    badge = call(bob, "/v1/badges/issue", {})
    call(alice, "/v1/badges/verify", {"credential": badge["credential"]})
    call(alice, "/v1/badges/verify", {"credential": "no credential"})
    call(alice, "/v1/compliance/validate", {"jurisdiction": "EU"})
    call(alice, "/v1/compliance/validate", {"jurisdiction": "EU", "dry_run": True})
    call(bob, "/v1/auth/rotate-secret", {})
    call(bob, "/v1/auth/logout", {"all": True})
    call(bob, "/v1/did/status", {})
    call(alice, "/v1/channel/send", {"to": "did:key:z6Mk", "message": "Meet me at noon."})
    return count


if __name__ == "__main__":
    main()
