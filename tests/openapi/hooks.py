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
        if not (isinstance(case.body, dict) and "api_key_id" in case.body):
            case.headers["X-DID-API-Key"] = data["key"]


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
