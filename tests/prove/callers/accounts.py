"""Operations on accounts: sessions, tokens, keys, policies and plans."""

SCOPES = ["send", "open", "webhooks", "read"]
KEYS_MAX = 24


def activate(caller):
    """Activates a key of a new account or of an existing one."""
    if len(caller.world.identities) < KEYS_MAX:
        other = caller.identity() if caller.random.random() < 0.5 else None
        caller.world.activate(other and other.account)


def log_in(caller):
    """Opens a session."""
    if identity := caller.identity():
        with identity.account.lock:
            caller.world.log_in(identity.account)


def log_out(caller):
    """Ends one session or all of them, then uses the ended session at once."""
    identity = caller.identity()
    if not identity:
        return
    account = identity.account
    credential = caller.session(account)
    body = {"all": True} if caller.random.random() < 0.3 else {}
    call = caller.call("logout", "/v1/auth/logout", body, credential=credential, account=account)
    if call.outcome == "refused":
        return
    account.sessions = [] if body else [session for session in account.sessions if session != credential]
    for _ in range(caller.settings.nodes * 2):
        caller.call("status", "/v1/did/status", {}, identity, credential=credential)


def create_token(caller):
    """Creates an API token."""
    identity = caller.identity()
    if not identity:
        return
    account = identity.account
    with account.lock:
        scopes = [name for name in SCOPES if caller.random.random() < 0.7] or ["send"]
        body = {"login_secret": account.login_secret, "api_key_id": identity.key, "name": "model", "scopes": scopes}
        call = caller.call("token", "/v1/auth/tokens/create", body, credential=caller.session(account), account=account)
        if call.outcome == "ok":
            account.tokens.append((call.answer["token_id"], call.answer["token"], identity, scopes))


def misuse_token(caller):
    """Uses a token for calls that its scopes may not allow, and for another key of its account."""
    identity = caller.identity()
    entry = identity and caller.some(identity.account.tokens)
    if not entry:
        return
    _, token, owner, _ = entry
    caller.call("status", "/v1/did/status", {}, owner, credential=token)
    caller.call("list", "/v1/webhooks/list", {}, owner, credential=token)
    caller.call("policy", "/v1/did/policy", {}, owner, credential=token)
    caller.call("send", "/v1/channel/send", {"to": owner.key, "message": caller.text()}, owner, credential=token)
    caller.call("open", "/v1/channel/open", {"envelope_id": "env_01m7ye92t9f5vargkky48cczpv"}, owner, credential=token)
    others = [it for it in caller.world.identities if it.account is owner.account and it is not owner]
    if other := caller.some(others):
        caller.call("status", "/v1/did/status", {}, other, credential=token, probe="stranger")


def revoke_token(caller):
    """Revokes an API token, then uses it at once."""
    identity = caller.identity()
    entry = identity and caller.some(identity.account.tokens)
    if not entry:
        return
    account, (token_id, token, owner, _) = identity.account, entry
    call = caller.call("revoke token", "/v1/auth/tokens/revoke", {"token_id": token_id},
                       credential=caller.session(account), account=account)
    if call.outcome != "refused":
        if entry in account.tokens:
            account.tokens.remove(entry)
        for _ in range(caller.settings.nodes * 2):
            caller.call("status", "/v1/did/status", {}, owner, credential=token)


def recover_account(caller):
    """Replaces the secrets of an account with its recovery code, which ends all sessions and tokens."""
    identity = caller.identity()
    if not identity:
        return
    account = identity.account
    with account.lock:
        replaced = caller.call("recover account", "/v1/auth/recover",
                               {"account_id": account.id, "recovery_code": account.recovery_code}, account=account)
        old = account.login_secret
        take_secrets(caller, account, replaced)
        if replaced.outcome == "ok":
            account.sessions, account.tokens = [], []
            caller.call("login", "/v1/auth/login", {"account_id": account.id, "login_secret": old}, account=account)


def rotate_login_secret(caller):
    """Replaces the login secret of an account."""
    identity = caller.identity()
    if not identity:
        return
    account = identity.account
    with account.lock:
        body = {"login_secret": account.login_secret}
        replaced = caller.call("rotate login secret", "/v1/auth/rotate-secret", body,
                               credential=caller.session(account), account=account)
        take_secrets(caller, account, replaced)


def take_secrets(caller, account, replaced):
    """Remembers new secrets. Without a response the secrets are unknown, so the account is not used any more."""
    if replaced.outcome == "ok":
        account.login_secret, account.recovery_code = replaced.answer["login_secret"], replaced.answer["recovery_code"]
    elif replaced.outcome == "unknown":
        for identity in [it for it in caller.world.identities if it.account is account]:
            caller.world.identities.remove(identity)


def revoke(caller):
    """Revokes a key in the dashboard or as operator, then uses it at once. Often activates its replacement."""
    identity = caller.identity()
    if not identity or len(caller.world.identities) < 6:
        return
    with identity.account.lock:
        if caller.random.random() < 0.5:
            call = caller.client.revoke_in_dashboard(identity)
        else:
            call = caller.world.revoke_as_operator(identity)
    if call.outcome == "refused":
        return
    caller.world.retire(identity)
    others = [it for it in caller.world.identities if it is not identity]
    for _ in range(caller.settings.nodes * 2):
        caller.call("status", "/v1/did/status", {}, identity)
        if other := caller.some(others):
            caller.call("send", "/v1/channel/send", {"to": identity.key, "message": caller.text()}, other)
    if caller.random.random() < 0.6:
        caller.world.activate(identity.account, identity.handle)


def rotate_sealing_key(caller):
    """Replaces the sealing key of a key."""
    if identity := caller.identity():
        caller.world.operate("rotate key", identity.key, ["key", "rotate", identity.key])


def change_plan(caller):
    """Changes the limits of a key."""
    if identity := caller.identity():
        caller.world.set_plan(identity)


def set_policy(caller):
    """Changes the policy of a key, then sends to it at once from a key that the change concerns."""
    identity, other = caller.identity(), caller.identity()
    if not identity or not other or identity is other:
        return
    with identity.lock:
        body = caller.random.choice([
            {"block": [other.key]}, {"block": [other.key]}, {"unblock": [other.key]}, {"unblock": [other.key]},
            {"accept": "anyone"}, {"accept": "anyone"}, {"accept": "nobody"}, {"accept": "contacts"},
            {"accept": "allowlist", "allow": [other.key]}, {"unallow": [other.key]}, {"receipts": "opened"},
            {"receipts": "opened"}, {"receipts": "notified"}, {"receipts": "none"},
        ])
        call = caller.call("policy", "/v1/did/policy", body, identity)
    if call.outcome == "ok":
        for _ in range(caller.settings.nodes):
            caller.call("send", "/v1/channel/send", {"to": identity.key, "message": caller.text()}, other)
    if body.get("accept", "anyone") != "anyone" and caller.random.random() < 0.8:
        with identity.lock:
            caller.call("policy", "/v1/did/policy", {"accept": "anyone"}, identity)


OPERATIONS = {
    activate: 2, log_in: 2, log_out: 1, create_token: 2, revoke_token: 1, misuse_token: 1, recover_account: 0.2,
    rotate_login_secret: 0.3, revoke: 0.7, rotate_sealing_key: 0.3, change_plan: 0.5, set_policy: 4,
}
