"""Runs the TypeScript client in a browser and in Deno."""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from server import Server

PAGE = """<!doctype html>
<script type="importmap">
  {"imports": {"sealpost": "/modules/dist/src/index.js"}}
</script>
<script type="module">
  try {
    const { Sealpost, Webhook } = await import("sealpost");
    const url = location.origin;
    const { login, identity } = await new Sealpost({ url }).openAccount("Bob", { handle: "bob" });
    const sealpost = new Sealpost({ url, login, apiKey: identity.api_key_id });
    const { envelope_id } = await sealpost.send("bob", "Hello from a browser.");
    const { message } = await sealpost.open(envelope_id);
    const { cases: [{ secrets, headers, body, now }] } = await (await fetch("/vectors")).json();
    const { kind } = await new Webhook(...secrets).verify(headers, body, new Date(now * 1000));
    await fetch("/result", { method: "POST", body: `${message} ${kind}` });
  } catch (fault) {
    await fetch("/result", { method: "POST", body: String(fault) });
  }
</script>
"""
EXPECTED = "Hello from a browser. envelope.received"


def check_browser(binary, node, vectors):
    with tempfile.TemporaryDirectory() as folder, Server(binary, folder) as server, Site(server.url, node, vectors) as site:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync",
                   f"--user-data-dir={folder}/browser", "--remote-debugging-port=0"]
        browser = subprocess.Popen(["chromium", *options, site.url], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        arrived = site.arrived.wait(timeout=60)
        browser.terminate()
        browser.wait(timeout=30)
    if not arrived or site.result != EXPECTED:
        sys.exit(f"tests/clients: the browser reports {site.result}")
    print("the TypeScript client sends, opens and verifies in a browser")


DENO = """
import { Receiver, Sealpost, Webhook } from "sealpost";

const [url] = Deno.args;
const { login, identity } = await new Sealpost({ url }).openAccount("Bob", { handle: "bob" });
const client = new Sealpost({ url, login, apiKey: identity.api_key_id });
let receiver;
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => receiver.fetch(request));
const { secret } = await client.webhooks.register(`http://127.0.0.1:${server.addr.port}/`);
const onEnvelope = ({ message }) => {
  console.log(message);
  Deno.exit();
};
receiver = new Receiver({ client, webhook: new Webhook(secret), onEnvelope });
await client.send("bob", "Hello from Deno.");
"""


def check_deno(binary, node):
    with tempfile.TemporaryDirectory() as folder, Server(binary, folder) as server:
        folder = Path(folder)
        modules = {"sealpost": "dist/src/index.js"}
        imports = {name: (Path(node) / file).as_uri() for name, file in modules.items()}
        (folder / "imports.json").write_text(json.dumps({"imports": imports}))
        (folder / "program.mjs").write_text(DENO)
        command = ["deno", "run", "--no-remote", "--no-lock", "--no-config", "--allow-net=127.0.0.1", "--import-map",
                   folder / "imports.json", folder / "program.mjs", server.url]
        ended = subprocess.run(command, env=os.environ | {"DENO_DIR": str(folder / "deno"), "DENO_NO_UPDATE_CHECK": "1"},
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    if ended.returncode or ended.stdout.strip() != "Hello from Deno.":
        sys.exit(f"tests/clients: Deno reports {ended.stdout}")
    print("the TypeScript client sends, receives and opens in Deno")


class Site:
    """A site with the page, the modules and, at the same origin, the service."""

    def __init__(self, service, node, vectors):
        self.result, self.arrived = None, threading.Event()
        site, service = self, urlsplit(service).netloc

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/":
                    self.respond(200, "text/html", PAGE.encode())
                elif self.path == "/vectors":
                    self.respond(200, "application/json", vectors.read_bytes())
                elif self.path.startswith("/modules/"):
                    self.respond(200, "text/javascript", (Path(node) / self.path.removeprefix("/modules/")).read_bytes())
                else:
                    self.respond(404, "text/plain", b"")

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/result":
                    site.result = body.decode()
                    site.arrived.set()
                    return self.respond(200, "text/plain", b"")
                connection = http.client.HTTPConnection(service, timeout=30)
                forwarded = ("Authorization", "Content-Type", "Idempotency-Key", "X-DID-API-Key")
                headers = {name: self.headers[name] for name in forwarded if name in self.headers}
                connection.request("POST", self.path, body=body, headers=headers)
                response = connection.getresponse()
                self.respond(response.status, response.headers["Content-Type"], response.read())
                connection.close()

            def respond(self, status, kind, content):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
