"""Runs the scenario with the Python client: scenario.py sync|async. Reads the scenario and prints the results as JSON."""

import asyncio
import inspect
import json
import re
import sys
import threading
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import sealpost
from sealpost import ApiError, Login, Retry, Unreachable, Webhook
from sealpost.models import SendRequest


SECRET = re.compile(r"\b(kt|ls|rc|st|whsec)_\w{8}")


class Runner:
    def __init__(self, url, identities, names):
        self.url, self.identities = url, identities
        self.client_class, self.receiver_class = names
        self.clients, self.saved, self.messages = {}, {}, []
        self.received = threading.Condition()

    def client(self, step):
        """Returns the client of an API token, or of an identity, which the scenario may have activated."""
        name = step.get("as") or step.get("token")
        if name not in self.clients:
            retry = Retry(tries=10, first_pause_s=0.01)
            self.clients[name] = self.client_class(self.url, retry=retry, **self.credentials(step))
        return self.clients[name]

    def credentials(self, step):
        if "token" in step:
            return {"token": self.resolved(step["token"])}
        who = self.identities.get(step.get("as")) or self.saved.get(step.get("as"))
        return {"login": Login(who["account_id"], who["login_secret"]), "api_key": who.get("api_key_id")} if who else {}

    async def run(self, step):
        arguments = self.resolved(step.get("with", {}))
        try:
            result = await self.act(step, self.client(step), arguments)
        except ApiError as error:
            return {"error": error.code}
        except Unreachable:
            return {"error": "UNREACHABLE"}
        if "save" in step:
            self.saved[step["save"]] = result
        return {"result": result}

    async def act(self, step, client, arguments):
        name = step["do"]
        if name == "listen":
            return await self.listen(client)
        if name == "wait":
            return await asyncio.to_thread(self.wait, arguments["count"])
        if "since" in arguments:
            arguments["since"] = datetime.fromisoformat(arguments["since"])
        method = client
        for part in name.split("."):
            method = getattr(method, part)
        if name == "send_batch":
            messages = [SendRequest.from_dict(message) for message in arguments["messages"]]
            sent = plain(await listed(method(messages)))
            return {"statuses": [result["status"] for result in sent["results"]]}
        result = await listed(method(**arguments))
        if hasattr(result, "to_dict") and SECRET.search(repr(result)):
            sys.exit(f"{name}: the representation of the result shows a secret")
        return plain(result)

    async def listen(self, client):
        """Starts a receiver, and registers its webhook."""
        loop = asyncio.get_running_loop()
        runner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = runner.receiver.receive(dict(self.headers), body)
                if inspect.isawaitable(status):
                    status = asyncio.run_coroutine_threadsafe(status, loop).result()
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        webhook = await listed(client.webhooks.register(f"http://127.0.0.1:{server.server_port}/"))
        self.receiver = self.receiver_class(client, Webhook(webhook.secret), self.on_envelope, on_event=self.on_event)
        return plain(webhook)

    def on_envelope(self, opened):
        with self.received:
            self.messages.append(opened.message)
            self.received.notify_all()
        return self.done()

    def on_event(self, _):
        return self.done()

    def done(self):
        """Returns None, or a coroutine for the asynchronous receiver."""
        return asyncio.sleep(0) if self.client_class is sealpost.AsyncSealpost else None

    def wait(self, count):
        with self.received:
            if not self.received.wait_for(lambda: len(self.messages) >= count, timeout=60):
                sys.exit(f"only {self.messages} arrived")
        return {"messages": sorted(self.messages)}

    def resolved(self, value):
        """Replaces references to earlier results."""
        if isinstance(value, dict):
            return {name: self.resolved(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.resolved(member) for member in value]
        if isinstance(value, str) and value.startswith("$"):
            name, *path = value[1:].split(".")
            found = self.saved[name]
            for part in path:
                found = found[int(part)] if part.isdecimal() else found[part]
            return found
        return value


async def listed(result):
    """Waits for a result, and collects iterators."""
    if inspect.isasyncgen(result):
        return [entry async for entry in result]
    if inspect.isgenerator(result):
        return list(result)
    return await result if inspect.isawaitable(result) else result


def plain(value):
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


async def main():
    kinds = {"sync": (sealpost.Sealpost, sealpost.Receiver), "async": (sealpost.AsyncSealpost, sealpost.AsyncReceiver)}
    task = json.load(sys.stdin)
    runner = Runner(task["url"], task["identities"], kinds[sys.argv[1]])
    print(json.dumps([await runner.run(step) for step in task["steps"]]))


asyncio.run(main())
