"""Checks the OpenAPI document of the API for operators, and calls every operation of a running server."""

import base64
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import requests
from openapi_spec_validator import OpenAPIV31SpecValidator

from linters import lint
from server import OPERATOR_NAME, OPERATOR_PASSWORD


def check_operator_api(server, checked_type, check_examples):
    document = requests.get(f"{server.ops_url}/admin/v1/openapi.json", timeout=30).json()
    OpenAPIV31SpecValidator(document).validate()
    lint(document)
    print(f"{check_examples(document)} examples of the operator API match their schemas")
    generate_client(document)
    called = call_every_operation(server, checked_type(document))
    operations = {path for path, item in document["paths"].items() if "post" in item}
    if called != operations:
        sys.exit(f"tests/openapi: not called: {sorted(operations - called)}")
    print(f"the responses of all {len(called)} operations for operators match their schemas")


def generate_client(document):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "openapi.json"
        file.write_text(json.dumps(document))
        ended = subprocess.run(
            ["openapi-python-client", "generate", "--path", str(file), "--meta", "none", "--fail-on-warning",
             "--output-path", f"{folder}/client"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode:
        sys.exit(f"tests/openapi: no client for operators was generated:\n{ended.stdout}")


def call_every_operation(server, checked):
    alice, bob = server.new_identity(), server.new_identity()
    receiver = {"url": "https://example.com/hook", "events": ["envelope.received"]}
    hook = server.post("/v1/webhooks/register", receiver, bob).json()
    badge = server.post("/v1/badges/issue", {}, alice).json()
    account, called = alice["login"]["account_id"], set()
    token = base64.b64encode(f"{OPERATOR_NAME}:{OPERATOR_PASSWORD}".encode()).decode()

    def call(path, **body):
        called.add(f"/admin/v1{path}")
        response = requests.post(f"{server.ops_url}/admin/v1{path}", json=body, timeout=30,
                                 headers={"Authorization": f"Bearer {token}"})
        if response.status_code != 200:
            sys.exit(f"tests/openapi: {path} responded with {response.status_code}: {response.text}")
        return checked.response(f"/admin/v1{path}", response)

    why = {"reason": "a test"}
    call("/accounts/list")
    call("/accounts/show", account_id=account)
    call("/keys/list", account_id=account)
    call("/keys/show", api_key_id=alice["key"])
    call("/keys/plan", api_key_id=alice["key"], plan="builder", **why)
    call("/keys/deactivate", api_key_id=alice["key"], **why)
    call("/keys/reactivate", api_key_id=alice["key"], **why)
    call("/keys/rotate", api_key_id=alice["key"], **why)
    for action in ("propose", "enforce", "lift"):
        call(f"/governance/{action}", subject=alice["key"], **why)
    call("/partners/assign", account_id=account, partner="acme", **why)
    for action in ("suspend", "restore"):
        call(f"/partners/{action}", partner="acme", **why)
    scores = {"clarity": "0.9", "coherence": "0.9", "confidence": "0.95", "drift": "0.05"}
    call("/assessments/record", api_key_id=alice["key"], **scores, **why)
    call("/attestations/record", api_key_id=alice["key"], check="terms", failed=False, **why)
    call("/badges/revoke", badge_id=badge["badge_id"], **why)
    call("/webhooks/disable", webhook_id=hook["webhook_id"], **why)
    call("/audit/list")
    call("/stats")
    call("/accounts/end-sessions", account_id=account, **why)
    call("/keys/revoke", api_key_id=bob["key"], **why)
    return called
