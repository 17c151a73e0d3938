"""Runs the checks. tests/openapi/run starts this program with its packages."""

import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from clients import check_generated_clients
from linters import lint
from operators import check_operator_api
from server import Server

HERE = Path(__file__).resolve().parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        with Server(sys.argv[1], folder) as server:
            document = server.get("/openapi.json").json()
            OpenAPIV31SpecValidator(document).validate()
            lint(document)
            print("the document is valid OpenAPI", document["openapi"])
            print(f"{check_examples(document)} examples match their schemas")
            print(f"{walk(server, Checked(document))} responses of the main job match their schemas")
            check_operator_api(server, Checked, check_examples)
            bob = server.new_identity("bob")
            print(f"{check_commands(server, Checked(document))} commands of the reference work unchanged")
            check_generated_clients(server, document)
            fuzz(server, bob)


class Checked:
    """Validates values against schemas of the document."""

    def __init__(self, document):
        self.document = document

    def check(self, value, schema, where):
        whole = {**schema, "components": self.document["components"]}  # references start at the root
        validator = OAS31Validator(whole, format_checker=OAS31Validator.FORMAT_CHECKER)
        faults = [f"{'/'.join(map(str, fault.path))}: {fault.message}" for fault in validator.iter_errors(value)]
        if faults:
            sys.exit(f"tests/openapi: {where} does not match its schema: {faults}")

    def response(self, path, response):
        """Checks that the document names this response, and returns the body."""
        kind = response.headers["Content-Type"]
        return self.body(self.document["paths"][path]["post"], path, response.status_code, kind, response.json())

    def body(self, operation, path, status, kind, body):
        documented = operation["responses"].get(str(status))
        if documented is None or kind not in documented["content"]:
            sys.exit(f"tests/openapi: {path} responded with {status} as {kind}, which is not documented")
        self.check(body, documented["content"][kind]["schema"], f"the response of {path}")
        code = body.get("code")
        if code is not None and code not in documented["content"][kind]["examples"]:
            sys.exit(f"tests/openapi: {path} responded with {code}, which is not documented")
        return body


def check_examples(document):
    """Checks that each example matches its schema, and returns the number of examples."""
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
    """Yields every media type with a schema and examples."""
    if isinstance(node, dict):
        if "schema" in node and "examples" in node:
            yield where, node
        for name, child in node.items():
            yield from media_types(child, f"{where}/{name}")
    elif isinstance(node, list):
        for place, child in enumerate(node):
            yield from media_types(child, f"{where}/{place}")


def check_commands(server, checked):
    """Runs each command of the reference pages in a shell, and checks each response against the document. Each command
    has a new identity: some commands end the session or replace the login secret."""
    addresses = sorted(set(re.findall(r'href="(/docs/reference/\w+)"', server.get("/docs/reference").text)))
    pages = "".join(server.get(address).text for address in addresses)
    # The colours of the code are no part of the commands.
    pages = re.sub(r"</?span[^>]*>", "", pages)
    commands = [html.unescape(found) for found in re.findall(r"<code>(curl [^<]*)</code>", pages)]
    for command in commands:
        identity = server.new_identity()
        token = server.post("/v1/auth/tokens/create", {
            "login_secret": identity["login"]["login_secret"], "api_key_id": identity["key"], "name": "commands",
            "scopes": ["send", "open", "webhooks", "read"]}, identity).json()["token"]
        environment = os.environ | {
            "SEALPOST_TOKEN": token, "SESSION_TOKEN": identity["token"], "API_KEY": identity["key"]}
        shell = subprocess.run(["bash", "-c", command], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=False)
        # A status list is a credential and not JSON.
        if "/v1/status/" in command:
            if shell.stdout.count(b".") != 2:
                sys.exit(f"tests/openapi: this command returned no credential: {command}")
            continue
        try:
            body = json.loads(shell.stdout)
        except ValueError:
            sys.exit(f"tests/openapi: this command returned no JSON: {command}")
        path, code = re.search(r"https?://[^/]+(/[^']*)", command)[1], body.get("code")
        if code is not None and not code.endswith("_NOT_FOUND") and code != REFUSED_EXAMPLES.get(path):
            sys.exit(f"tests/openapi: this command returned {code}: {command}")
        operation, = checked.document["paths"][path].values()
        status = body["status"] if code else 200
        kind = next(iter(operation["responses"][str(status)]["content"]))
        checked.body(operation, path, status, kind, body)
    return len(commands)


# Ids and handles of the examples do not exist here, so a command may get a code that ends in _NOT_FOUND. These are the
# other rejections of examples.
REFUSED_EXAMPLES = {
    "/v1/did/activate": "HANDLE_TAKEN",
    "/v1/auth/login": "UNAUTHORIZED",
    "/v1/auth/recover": "UNAUTHORIZED",
    "/v1/auth/rotate-secret": "UNAUTHORIZED",
    "/v1/auth/tokens/create": "UNAUTHORIZED",
    "/v1/account/close": "UNAUTHORIZED",
    "/v1/account/export": "UNAUTHORIZED",
    "/v1/badges/issue": "COMPLIANCE_CIRCUIT_FAILED",
    "/v1/compliance/validate": "COMPLIANCE_CIRCUIT_FAILED",
}


def walk(server, checked):
    """Runs the main job, checks each response against the document, and returns the number of responses."""
    alice, bob, count = server.new_identity(), server.new_identity(), 0

    def call(identity, path, body):
        nonlocal count
        count += 1
        return checked.response(path, server.post(path, body, identity))

    call(None, "/v1/did/activate", {"label": "Carol", "handle": "carol"})
    call(None, "/v1/auth/login", alice["login"])
    hook = call(bob, "/v1/webhooks/register", {"url": "https://example.com/hook", "events": ["envelope.received"]})
    sent = call(alice, "/v1/channel/send", {"to": bob["key"], "message": "Meet me at noon."})
    call(bob, "/v1/channel/open", {"envelope_id": sent["envelope_id"]})
    call(bob, "/v1/did/status", {})
    call(bob, "/v1/webhooks", {"action": "list"})
    for action in ("deliveries", "enable", "rotate_secret", "test"):
        call(bob, "/v1/webhooks", {"action": action, "webhook_id": hook["webhook_id"]})
    call(bob, "/v1/webhooks", {"action": "update", "webhook_id": hook["webhook_id"], "description": "orders"})
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
    secret = {"login_secret": bob["login"]["login_secret"]}
    scoped = {"api_key_id": bob["key"], "name": "shop", "scopes": ["send"]}
    token = call(bob, "/v1/auth/tokens/create", secret | scoped)
    call({"key": bob["key"], "token": token["token"]}, "/v1/did/status", {})
    call(bob, "/v1/auth/tokens/list", {})
    call(bob, "/v1/auth/tokens/revoke", {"token_id": token["token_id"]})
    call(bob, "/v1/auth/tokens/revoke", {"token_id": token["token_id"]})
    secrets = call(bob, "/v1/auth/rotate-secret", secret)
    call(bob, "/v1/auth/logout", {"all": True})
    call(None, "/v1/auth/recover", {name: secrets[name] for name in ("account_id", "recovery_code")})
    call(bob, "/v1/did/status", {})
    call(alice, "/v1/channel/send", {"to": "did:key:z6Mk", "message": "Meet me at noon."})
    return count


def fuzz(server, identity):
    """Sends generated requests as the identity of the examples, with a fixed seed and a fixed number."""
    environment = os.environ | {
        "SEALPOST_HOOKS": str(HERE / "hooks.py"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SEALPOST_CALLER": json.dumps(identity),
        "SEALPOST_SPARE": json.dumps(server.new_identity()),
    }
    command = ["schemathesis", "--config-file", str(HERE / "schemathesis.toml"), "run", f"{server.url}/openapi.json"]
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(command, env=environment, cwd=folder, check=False)
    if ended.returncode:
        sys.exit("tests/openapi: the server does not match its document: see the failures above")


if __name__ == "__main__":
    main()
