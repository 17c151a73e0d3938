"""Calls the endpoints of the API with the Python client. The API reference shows the parts of this program.

Needs the environment variables SEALPOST_URL and SEALPOST_TOKEN, an API token with all scopes of an identity with the
handle `bob`, and API_KEY, ACCOUNT_ID and LOGIN_SECRET of this identity.
"""

# [setup]
import os

from sealpost import Sealpost

URL = os.environ["SEALPOST_URL"]
# [end]

# [client]
client = Sealpost(URL, token=os.environ["SEALPOST_TOKEN"])
# [end]

# [owner]
from sealpost import Login

login = Login(os.environ["ACCOUNT_ID"], os.environ["LOGIN_SECRET"])
owner = Sealpost(URL, login=login, api_key=os.environ["API_KEY"])
# [end]

# [visitor]
visitor = Sealpost(URL)  # without credentials
# [end]

# [checkLiveness]
print(visitor.ping().status)
# [end]

# [getDidDocument]
print(visitor.did_document().id)
# [end]

# [getOpenapiDocument]
print(visitor.openapi_document()["openapi"])
# [end]

# [activateIdentity]
carol = visitor.open_account("Carol")  # Store carol.login and carol.recovery_code.
print(carol.identity.api_key_id, carol.identity.did)
# [end]

# [getKeyStatus]
standing = client.status()
print(standing.status, standing.usage.day.remaining)
# [end]

# [resolveIdentity]
bob = client.resolve("bob")
print(bob.api_key_id, bob.active)
# [end]

# [setPolicy]
print(owner.policy(listed=True).accept)
# [end]

# [registerWebhook]
webhook = client.webhooks.register("https://example.com/hook", ["envelope.received"])
print(webhook.webhook_id)  # Store webhook.secret: it verifies the events.
# [end]
webhook_id = webhook.webhook_id

# [sendMessage]
sent = client.send("bob", "Meet me at noon.")
print(sent.envelope_id, sent.state)
# [end]
envelope_id = sent.envelope_id

# [sendMessages]
from sealpost.models import SendRequest

batch = client.send_batch([SendRequest(to="bob", message="One."), SendRequest(to="bob", message="Two.")])
print([result.status for result in batch.results])
# [end]

# [listSent]
for envelope in client.sent(recipient="bob"):
    print(envelope.envelope_id, envelope.state)
# [end]

# [getEvidence]
with open("order-7.evidence", "w") as file:
    file.write(client.evidence(envelope_id).evidence)
# [end]

# [getReceipt]
print(client.receipt(envelope_id).state)
# [end]

# [openEnvelope]
envelope = client.open(envelope_id)
print(envelope.sender, envelope.message)
# [end]

# [listWebhooks]
for webhook in client.webhooks.list():
    print(webhook.webhook_id, webhook.url)
# [end]

# [enableWebhook]
print(client.webhooks.enable(webhook_id).due_now)
# [end]

# [listDeliveries]
for delivery in client.webhooks.deliveries(webhook_id, state="failed"):
    print(delivery.envelope_id, delivery.attempt, delivery.error)
# [end]

# [redeliverEvent]
print(client.webhooks.redeliver(webhook_id, envelope_id).outcome)
# [end]

# [recoverDeliveries]
from datetime import datetime, timezone

since = datetime(2026, 11, 1, tzinfo=timezone.utc)
print(client.webhooks.recover(webhook_id, since, dry_run=True).matched)
# [end]

# [rotateWebhookSecret]
rotated = client.webhooks.rotate_secret(webhook_id)
print(len(rotated.secret), "characters")  # Store rotated.secret.
# [end]

# [updateWebhook]
print(client.webhooks.update(webhook_id, description="orders", paused=False).description)
# [end]

# [testWebhook]
print(client.webhooks.test(webhook_id).outcome)
# [end]

# [deleteWebhook]
client.webhooks.delete(webhook_id)
# [end]

# [issueBadge]
badge = owner.issue_badge()
print(badge.badge_id, badge.expires_at)
# [end]
credential = badge.credential

# [verifyBadge]
print(owner.verify_badge(credential).valid)
# [end]

# [getStatusList]
print(len(visitor.status_list("1")), "characters")
# [end]

# [validateCompliance]
print(owner.validate_compliance("EU", dry_run=True).passed)
# [end]

# [listActivity]
for entry in owner.account.activity():
    print(entry.at, entry.kind)
# [end]

# [exportAccount]
print(owner.account.export().account_id)
# [end]

# [createApiToken]
token = owner.account.create_token(name="order service", scopes=["send"])
print(token.token_id)  # Store token.token.
# [end]
token_id = token.token_id

# [listApiTokens]
for token in owner.account.tokens():
    print(token.token_id, token.name, token.last_used_at)
# [end]

# [revokeApiToken]
print(owner.account.revoke_token(token_id).revoked)
# [end]

# [createSession]
# The owner logs in at its first request, and again when its session has ended.
print(owner.status().label)
# [end]

# [endSession]
print(owner.account.logout().logged_out)
# [end]

bob, owner = owner, Sealpost(URL, login=carol.login, api_key=carol.identity.api_key_id)
account_id = carol.login.account_id

# [rotateLoginSecret]
secrets = owner.account.rotate_login_secret()
print(len(secrets.login_secret), "characters")  # Store secrets.login_secret and secrets.recovery_code.
# [end]
recovery_code = secrets.recovery_code

# [recoverAccount]
secrets = visitor.recover(account_id, recovery_code)
print(len(secrets.login_secret), "characters")  # Store secrets.login_secret and secrets.recovery_code.
# [end]

owner = bob

# [closeAccount]
print(owner.account.close(os.environ["LOGIN_SECRET"]).closed_at)
# [end]
