"""Calls every operation with the client that openapi-python-client generated."""

import base64
import importlib
import inspect
import json
import re
from pathlib import Path


def call_every_operation(folder, name, server, document):
    """Calls operations that depend on each other, then the others with their examples. Returns the number of operations."""
    api = GeneratedApi(folder, name, server.url)
    models = importlib.import_module(f"{name}.models")
    alice, bob = server.new_identity(), server.new_identity()

    api.call("check_liveness")
    api.call("get_openapi_document")
    api.call("get_did_document")
    api.call("get_did_document_below_path")
    carol = api.call("activate_identity", body=models.ActivateRequest(label="Carol"))
    login = models.LoginRequest(account_id=carol.account_id, login_secret=carol.login_secret)
    session = {"token": api.call("create_session", body=login).session_token}
    scopes, secret = [models.TokenScope.SEND], carol.login_secret
    token = models.CreateTokenRequest(login_secret=secret, api_key_id=carol.api_key_id, name="shop", scopes=scopes)
    token_id = api.call("create_api_token", session, body=token).token_id
    assert api.call("list_api_tokens", session).tokens[0].token_id == token_id
    api.call("revoke_api_token", session, body=models.RevokeTokenRequest(token_id=token_id))
    secrets = api.call("rotate_login_secret", session, body=models.RotateSecretRequest(login_secret=secret))
    code = models.RecoverAccountRequest(account_id=carol.account_id, recovery_code=secrets.recovery_code)
    api.call("recover_account", body=code)
    assert api.call("get_key_status", alice).api_key_id == alice["key"]

    body = models.RegisterRequest(url="https://example.com/hook", events=[models.EventKind.ENVELOPE_RECEIVED])
    hook = api.call("register_webhook", bob, body=body).webhook_id
    sent = api.call("send_message", alice, body=models.SendRequest(to=bob["key"], message="Meet me at noon."))
    opened = api.call("open_envelope", bob, body=models.OpenRequest(envelope_id=sent.envelope_id))
    assert opened.message == "Meet me at noon."
    messages = [models.SendRequest(to=bob["key"], message="Noon."), models.SendRequest(to="nobody", message="Noon.")]
    batch = api.call("send_messages", alice, body=models.SendBatchRequest(messages=messages))
    assert [result.status for result in batch.results] == [200, 404]
    assert len(api.call("list_sent", alice, body=models.ListRequest(recipient=bob["key"])).envelopes) == 2

    assert api.call("list_webhooks", bob).webhooks[0].webhook_id == hook
    api.call("enable_webhook", bob, body=models.EnableWebhook(webhook_id=hook))
    api.call("list_deliveries", bob, body=models.ListDeliveries(webhook_id=hook, limit=5))
    api.call("rotate_webhook_secret", bob, body=models.RotateWebhookSecret(webhook_id=hook))
    update = models.UpdateWebhook(webhook_id=hook, description="orders")
    assert api.call("update_webhook", bob, body=update).description == "orders"
    redeliver = models.RedeliverEvent(webhook_id=hook, envelope_id=sent.envelope_id)
    assert api.call("redeliver_event", bob, body=redeliver).outcome == "pending"
    recover = models.RecoverDeliveries(webhook_id=hook, since=opened.opened_at, dry_run=True)
    assert api.call("recover_deliveries", bob, body=recover).dry_run
    assert api.call("test_webhook", bob, body=models.TestWebhook(webhook_id=hook)).outcome == "failed"
    action = models.ListDeliveriesAction(action="deliveries", webhook_id=hook)
    assert isinstance(api.call("manage_webhooks", bob, body=action), models.DeliveriesPage)
    assert api.call("delete_webhook", bob, body=models.DeleteWebhook(webhook_id=hook)).deleted
    unknown = api.call("delete_webhook", bob, 404, body=models.DeleteWebhook(webhook_id=hook))
    assert isinstance(unknown, models.Problem) and unknown.code == "WEBHOOK_NOT_FOUND"

    badge = api.call("issue_badge", alice)
    assert api.call("verify_badge", bob, body=models.VerifyRequest(credential=badge.credential)).valid
    assert api.call("get_status_list", list_=status_list(badge.credential)).count(".") == 2
    validate = models.ValidateRequest(jurisdiction="EU", dry_run=True)
    assert not api.call("validate_compliance", alice, body=validate).passed
    api.call("set_policy", bob, body=models.PolicyRequest(listed=True))
    assert api.call("resolve_identity", alice, body=models.ResolveRequest(id=bob["key"])).active
    api.call("get_evidence", alice, body=models.EvidenceRequest(envelope_id=sent.envelope_id))
    api.call("get_receipt", alice, body=models.ReceiptRequest(envelope_id=sent.envelope_id))
    api.call("list_activity", alice, body=models.ActivityRequest(limit=5))
    export = models.ExportRequest(login_secret=alice["login"]["login_secret"])
    assert api.call("export_account", alice, body=export).keys[0].api_key_id == alice["key"]
    api.call("close_account", alice, 401, body=models.CloseRequest(login_secret="wrong"))
    api.call("end_session", alice, body=models.LogoutRequest(all_=True))
    api.call("get_key_status", alice, 401)
    api.call_the_others(bob, document, models)
    return len(api.called)


class GeneratedApi:
    """The generated modules, one for each operation."""

    def __init__(self, folder, name, url):
        self.url, self.called = url, set()
        self.client = importlib.import_module(f"{name}.client")
        files = [file for file in (Path(folder) / name / "api").glob("*/*.py") if file.stem != "__init__"]
        self.modules = {file.stem: f"{name}.api.{file.parent.name}.{file.stem}" for file in files}

    def call(self, operation, identity=None, status=200, **arguments):
        """Calls an operation. The response must have this status, or any if None, and the type of the document."""
        call = importlib.import_module(self.modules[operation]).sync_detailed
        client = self.client.Client(base_url=self.url, timeout=30)
        if identity:
            client = self.client.AuthenticatedClient(base_url=self.url, token=identity["token"], timeout=30)
            if "x_did_api_key" in inspect.signature(call).parameters:
                arguments["x_did_api_key"] = identity["key"]
        response = call(client=client, **arguments)
        assert status in (None, response.status_code), f"{operation}: {response.status_code} {response.content}"
        assert response.parsed is not None, f"{operation} has no type for {response.status_code}"
        self.called.add(operation)
        return response.parsed

    def call_the_others(self, identity, document, models):
        """Calls each remaining operation with its first example. An error is allowed if the document has it."""
        operations = [operation for item in document["paths"].values() for operation in item.values()]
        bodies = {snake(operation["operationId"]): operation.get("requestBody") for operation in operations}
        for operation in sorted(set(self.modules) - self.called):
            arguments = {}
            if bodies[operation]:
                content = bodies[operation]["content"]["application/json"]
                model = getattr(models, content["schema"]["$ref"].rsplit("/", 1)[1])
                arguments["body"] = model.from_dict(content["examples"]["example1"]["value"])
            self.call(operation, identity, None, **arguments)


def snake(name):
    return re.sub("(?=[A-Z])", "_", name).lower()


def status_list(credential):
    """Returns the number of the status list that a badge names."""
    payload = credential.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims["credentialStatus"]["statusListCredential"].rsplit("/", 1)[1]
