"""A caller: a thread that chooses and sends random calls."""

import random
import threading
import traceback

from callers import accounts, messages, webhooks
from world import some


class Caller:
    """A thread of random calls. The seed decides the choices, but not the order of the threads."""

    OPERATIONS = {**messages.OPERATIONS, **webhooks.OPERATIONS, **accounts.OPERATIONS}

    def __init__(self, world, seed):
        self.world, self.settings, self.client = world, world.settings, world.client
        self.random = random.Random(seed)
        self.is_over = threading.Event()
        self.problem = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        """Starts the thread."""
        self.thread.start()

    def stop(self):
        """Ends the thread after its current operation. A fault of the model itself ends the run."""
        self.is_over.set()
        self.thread.join()
        if self.problem:
            raise RuntimeError(f"an operation of the model failed:\n{self.problem}")

    def _run(self):
        operations, weights = list(self.OPERATIONS), list(self.OPERATIONS.values())
        while not self.is_over.wait(self.random.uniform(0, 0.08)):
            try:
                self.random.choices(operations, weights)[0](self)
            except Exception:
                self.problem = traceback.format_exc()
                return

    def some(self, choices):
        """Returns a random element, or `None` if there is none."""
        return some(choices, self.random)

    def identity(self):
        """Returns a random key that is not revoked."""
        return self.some(list(self.world.identities))

    def webhook(self):
        """Returns a random webhook of a random key."""
        with_webhooks = [identity for identity in self.world.identities if identity.webhooks]
        identity = self.some(with_webhooks)
        return identity and self.some(list(identity.webhooks))

    def text(self):
        """Returns a new text for a message."""
        return f"{self.world.mark}{self.client.number()}"

    def session(self, account):
        """Returns a session token of an account, and opens a session if there is none."""
        if not account.sessions:
            self.world.log_in(account)
        return self.some(list(account.sessions[-3:]))

    def call(self, name, path, body, identity=None, credential=None, scope=None, account=None, **options):
        """Sends a call with a session, or with an API token that has the scope."""
        is_own = credential is None
        if is_own and identity:
            account = identity.account
            tokens = [token for _, token, owner, scopes in account.tokens if owner is identity and scope in scopes]
            credential = self.some(tokens) if tokens and self.random.random() < 0.4 else self.session(account)
        call = self.client.call(name, path, body, identity, credential, **options)
        if account and call.account is None:
            call.account = account.id
        if is_own and call.status == 401 and account:
            # The session or the token has expired or ended.
            account.sessions = [session for session in account.sessions if session != credential]
            account.tokens = [entry for entry in account.tokens if entry[1] != credential]
        return call
