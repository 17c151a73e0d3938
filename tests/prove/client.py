"""Sends the requests of callers, and writes them to the history."""

import http.client
import json
import random
import re
import threading
import time
from urllib.parse import quote, urlsplit

from history import Call, now

TIMEOUT_S = 20
FORM = "application/x-www-form-urlencoded"


class Client:
    """A client of all nodes. Each request goes to a random node."""

    def __init__(self, addresses, history, seed):
        # `addresses` returns the current URL of each node.
        self.addresses, self.history, self.random = addresses, history, random.Random(seed)
        self.counter_lock = threading.Lock()
        self.counter = 0

    def number(self):
        """Returns the next number, for unique texts and names."""
        with self.counter_lock:
            self.counter += 1
            return self.counter

    def call(self, name, path, body, caller=None, credential=None, repeat=None, probe=None, is_abandoned=False):
        """Sends a POST with JSON and returns its record.

        `is_abandoned` closes the connection before the response, so that the outcome is unknown.
        """
        node = self.random.randrange(len(self.addresses()))
        headers = {"Content-Type": "application/json"}
        if credential:
            headers["Authorization"] = f"Bearer {credential}"
        if caller:
            headers["X-DID-API-Key"] = caller.key
        if repeat:
            headers["Idempotency-Key"] = repeat
        call = Call(name, now(), 0, node, caller and caller.key, caller and caller.account.id, credential, body,
                    repeat=repeat, probe=probe)
        response = self._exchange(node, path, json.dumps(body), headers, call, is_abandoned)
        if response:
            call.status, call.headers, text = response
            try:
                call.answer = json.loads(text)
            except ValueError:
                call.answer = {"unreadable": text}
        call.ended = now()
        return self.history.add(call)

    def _exchange(self, node, path, body, headers, call, is_abandoned=False):
        """Returns status, headers and text of the response; `None` without a response."""
        address = self.addresses()[node]
        if address is None:
            call.is_sent = False
            time.sleep(0.05)
            return None
        parts = urlsplit(address)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT_S)
        try:
            try:
                connection.connect()
            except OSError:
                call.is_sent = False
                time.sleep(0.05)
                return None
            connection.request("POST" if body is not None else "GET", path, body, headers)
            if is_abandoned:
                time.sleep(self.random.uniform(0, 0.02))
                return None
            response = connection.getresponse()
            text = response.read().decode("utf-8", errors="replace")
            return response.status, {name.lower(): value for name, value in response.getheaders()}, text
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def revoke_in_dashboard(self, identity):
        """Revokes a key in the dashboard: signs in, reads the token of the form, and submits the form."""
        node = self.random.randrange(len(self.addresses()))
        call = Call("revoke", now(), 0, node, identity.key, identity.account.id, is_sent=False)
        try:
            call.status = self._submit_revocation(node, identity, call)
        finally:
            call.ended = now()
            self.history.add(call)
        return call

    def _submit_revocation(self, node, identity, call):
        account = identity.account
        # Only the last of the three requests can revoke the key.
        before = Call("sign in", 0, 0)
        form = f"account_id={account.id}&login_secret={quote(account.login_secret)}"
        site = {"Content-Type": FORM, "Sec-Fetch-Site": "same-origin"}
        signed_in = self._exchange(node, "/dashboard/sign-in", form, site, before)
        if not signed_in or signed_in[0] != 303 or "set-cookie" not in signed_in[1]:
            return None
        cookie = {"Cookie": signed_in[1]["set-cookie"].split(";")[0]}
        page = self._exchange(node, "/dashboard", None, cookie, before)
        token = page and re.search(r'name="form_token" value="([^"]+)"', page[2])
        if not token:
            return None
        form = f"form_token={quote(token[1])}&typed={identity.key}&login_secret={quote(account.login_secret)}"
        call.is_sent, call.began = True, now()
        done = self._exchange(node, f"/dashboard/keys/{identity.key}/revoke", form, {**site, **cookie}, call)
        if not done:
            return None
        # The end of the session leads to the page for signing in.
        if done[0] == 303 and done[1].get("location", "").endswith("/dashboard/sign-in"):
            return 401
        return 200 if done[0] == 303 else done[0]
