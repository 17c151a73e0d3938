"""Calls the endpoints of the API. The API reference shows the parts of this program. Uses the standard library only.

Needs the environment variables SEALPOST_URL, SESSION_TOKEN and API_KEY of an identity with the handle `bob`, and
ACCOUNT_ID and LOGIN_SECRET of its account.
"""

# [setup]
import json
import os
from urllib.request import Request, urlopen

URL = os.environ["SEALPOST_URL"]


def post(path, body, credentials={}):
    """Returns the response of an endpoint. Raises `HTTPError` if the service refuses the request."""
    headers = {"Content-Type": "application/json", **credentials}
    with urlopen(Request(URL + path, json.dumps(body).encode(), headers), timeout=30) as response:
        return json.load(response)
# [end]


# [credentials]
CREDENTIALS = {
    "Authorization": "Bearer " + os.environ["SESSION_TOKEN"],
    "X-DID-API-Key": os.environ["API_KEY"],
}
# [end]

# [checkLiveness]
with urlopen(URL + "/v1/ping", timeout=30) as response:
    print(json.load(response)["status"])
# [end]

# [getDidDocument]
with urlopen(URL + "/.well-known/did.json", timeout=30) as response:
    print(json.load(response)["id"])
# [end]

# [activateIdentity]
carol = post("/v1/did/activate", {"label": "Carol"})  # Keep its account_id and its secrets.
print(carol["api_key_id"], carol["did"])
# [end]

# [getKeyStatus]
standing = post("/v1/did/status", {}, CREDENTIALS)
print(standing["status"], standing["usage"]["day"])
# [end]

# [resolveIdentity]
bob = post("/v1/did/resolve", {"id": "bob"}, CREDENTIALS)
print(bob["api_key_id"], bob["active"])
# [end]

# [setPolicy]
policy = post("/v1/did/policy", {"accept": "anyone", "listed": True}, CREDENTIALS)
print(policy["accept"])
# [end]

# [registerWebhook]
webhook = post("/v1/webhooks/register", {"url": "https://example.com/hook", "events": ["envelope.received"]}, CREDENTIALS)
print(webhook["webhook_id"], "secret:", len(webhook["secret"]), "characters")
# [end]
webhook_id = webhook["webhook_id"]

# [sendMessage]
sent = post("/v1/channel/send", {"to": "bob", "message": "Meet me at noon."}, CREDENTIALS)
print(sent["envelope_id"], sent["status"])
# [end]
envelope_id = sent["envelope_id"]

# [getReceipt]
receipt = post("/v1/channel/receipt", {"envelope_id": envelope_id}, CREDENTIALS)
print(receipt["recipient"])
# [end]

# [openEnvelope]
envelope = post("/v1/channel/open", {"envelope_id": envelope_id}, CREDENTIALS)
print(envelope["sender"], envelope["message"])
# [end]

# [listWebhooks]
for webhook in post("/v1/webhooks/list", {}, CREDENTIALS)["webhooks"]:
    print(webhook["webhook_id"], webhook["url"])
# [end]

# [enableWebhook]
print(post("/v1/webhooks/enable", {"webhook_id": webhook_id}, CREDENTIALS))
# [end]

# [listDeliveries]
page = post("/v1/webhooks/deliveries", {"webhook_id": webhook_id, "limit": 20}, CREDENTIALS)
for delivery in page["deliveries"]:
    print(delivery["envelope_id"], delivery["outcome"])
# [end]

# [redeliverEvent]
print(post("/v1/webhooks/redeliver", {"webhook_id": webhook_id, "envelope_id": envelope_id}, CREDENTIALS))
# [end]

# [recoverDeliveries]
lost = {"webhook_id": webhook_id, "since": "2026-01-01T00:00:00Z", "dry_run": True}
print(post("/v1/webhooks/recover", lost, CREDENTIALS))
# [end]

# [rotateWebhookSecret]
rotated = post("/v1/webhooks/rotate-secret", {"webhook_id": webhook_id}, CREDENTIALS)
print("secret:", len(rotated["secret"]), "characters")
# [end]

# [updateWebhook]
changes = {"webhook_id": webhook_id, "description": "orders", "paused": False}
print(post("/v1/webhooks/update", changes, CREDENTIALS)["description"])
# [end]

# [testWebhook]
print(post("/v1/webhooks/test", {"webhook_id": webhook_id}, CREDENTIALS)["outcome"])
# [end]

# [deleteWebhook]
print(post("/v1/webhooks/delete", {"webhook_id": webhook_id}, CREDENTIALS))
# [end]

# [issueBadge]
badge = post("/v1/badges/issue", {}, CREDENTIALS)
print(badge["badge_id"], badge["expires_at"])
# [end]
credential = badge["credential"]

# [verifyBadge]
print(post("/v1/badges/verify", {"credential": credential}, CREDENTIALS)["valid"])
# [end]

# [validateCompliance]
circuit = post("/v1/compliance/validate", {"jurisdiction": "EU", "dry_run": True}, CREDENTIALS)
print(circuit)
# [end]

# [listActivity]
for entry in post("/v1/account/activity", {"limit": 20}, CREDENTIALS)["entries"]:
    print(entry["at"], entry["kind"])
# [end]

# [createSession]
login = {"account_id": os.environ["ACCOUNT_ID"], "login_secret": os.environ["LOGIN_SECRET"]}
session = post("/v1/auth/login", login)
print("valid until", session["expires_at"])
# [end]

# [createApiToken]
token = post("/v1/auth/tokens/create", {
    "login_secret": os.environ["LOGIN_SECRET"],
    "api_key_id": os.environ["API_KEY"],
    "name": "order service",
    "scopes": ["send"],
}, CREDENTIALS)
print(token["token_id"], "token:", len(token["token"]), "characters")
# [end]
token_id = token["token_id"]

# [listApiTokens]
for token in post("/v1/auth/tokens/list", {}, CREDENTIALS)["tokens"]:
    print(token["token_id"], token["name"], token["last_used_at"])
# [end]

# [revokeApiToken]
print(post("/v1/auth/tokens/revoke", {"token_id": token_id}, CREDENTIALS)["revoked"])
# [end]

# [rotateLoginSecret]
secrets = post("/v1/auth/rotate-secret", {"login_secret": os.environ["LOGIN_SECRET"]}, CREDENTIALS)
print(sorted(secrets))  # Keep the login_secret and the recovery_code.
# [end]
recovery_code = secrets["recovery_code"]

# [endSession]
print(post("/v1/auth/logout", {}, CREDENTIALS)["logged_out"])
# [end]

# [recoverAccount]
secrets = post("/v1/auth/recover", {"account_id": os.environ["ACCOUNT_ID"], "recovery_code": recovery_code})
print(sorted(secrets))  # Keep the login_secret and the recovery_code.
# [end]
