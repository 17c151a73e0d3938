"""Adds credentials to generated requests, in all forms of the API."""

import json
import os

import requests
import schemathesis

CALLER = json.loads(os.environ["SEALPOST_CALLER"])
SPARE = json.loads(os.environ["SEALPOST_SPARE"])


@schemathesis.auth()
class Session:
    """Sends the caller's token, and its key unless the body names one: the header would take precedence over the body."""

    def get(self, case, context):
        return CALLER

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data['token']}"
        if isinstance(case.body, dict) and "api_key_id" in case.body:
            case.headers.pop("X-DID-API-Key", None)
        else:
            case.headers["X-DID-API-Key"] = data["key"]


@schemathesis.check
def documented_code(context, response, case):
    """An error code must be among the examples of its operation and status."""
    if response.status_code < 400:
        return
    documented = case.operation.definition.raw["responses"][str(response.status_code)]["content"]
    codes = documented["application/problem+json"]["examples"]
    code = response.json()["code"]
    assert code in codes, f"{code} is not documented for status {response.status_code}"


@schemathesis.hook
def before_call(context, case, kwargs):
    """Uses a spare account for logins and logouts. Keeps credentials of other callers."""
    path, base = case.operation.path, case.operation.base_url.rstrip("/")
    if path == "/v1/auth/login" and isinstance(case.body, dict):
        example = str(case.body.get("login_secret")).startswith("ls_")
        case.body = dict(SPARE["login"]) if example else case.body
    # A logout ends its session, so each logout gets a new session.
    if path == "/v1/auth/logout" and case.headers.get("Authorization") == f"Bearer {CALLER['token']}":
        session = requests.post(f"{base}/v1/auth/login", json=SPARE["login"], timeout=30).json()
        case.headers["Authorization"] = f"Bearer {session['session_token']}"
