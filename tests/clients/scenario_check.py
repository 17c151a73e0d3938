"""Runs the scenario with each client, and compares the stored data."""

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from proxy import Proxy
from server import Server

from document import repeatable

SCENARIO = json.loads((Path(__file__).resolve().parent / "scenario.json").read_text())


def check_scenario(binary, programs):
    first = None
    for client, program in programs.items():
        with tempfile.TemporaryDirectory() as folder, Server(binary, folder) as server:
            alice, bob = identity(server, "alice"), identity(server, "bob")
            paths = server.get("/openapi.json").json()["paths"]
            with Proxy(server.url, SCENARIO, repeatable(paths)) as proxy:
                results = run(client, program, {
                    "url": proxy.url, "identities": {"alice": alice, "bob": bob}, "steps": SCENARIO["steps"]})
            check_results(client, results)
            saved = saved_of(results)
            carol = {**saved["carol"], **saved["recovered"]}
            outcome = {"requests": dict(proxy.log), "store": stored(server, folder, [alice, bob, carol, saved["dave"]])}
        messages = [message for _, _, message, _ in outcome["store"]["envelopes"]]
        if sorted(messages) != sorted(SCENARIO["messages"]):
            sys.exit(f"tests/clients: {client} stored the messages {messages}")
        if proxy.early:
            sys.exit(f"tests/clients: {client} did not wait for Retry-After: {proxy.early}")
        if first is None:
            first = outcome
            check_faults(proxy.log)
        compare(client, first, outcome)
        faults = Counter(fault for faults in proxy.log.values() for fault in faults)
        print(f"{client}: {len(results)} steps, {faults.total()} requests, {faults.total() - faults['none']} faults, "
              f"{len(outcome['store']['envelopes'])} envelopes")


def identity(server, handle):
    """Creates an identity with the same handle and label."""
    created = server.new_identity(handle, handle)
    return {**created["login"], "api_key_id": created["key"], "label": handle}


def run(client, program, task):
    ended = subprocess.run([str(word) for word in program], input=json.dumps(task), stdout=subprocess.PIPE, text=True,
                           timeout=120, check=False)
    if ended.returncode:
        sys.exit(f"tests/clients: the scenario failed in {client}")
    return json.loads(ended.stdout)


def saved_of(results):
    """Returns the saved results by name."""
    pairs = zip(SCENARIO["steps"], results, strict=True)
    return {step["save"]: result["result"] for step, result in pairs if "save" in step}


def check_results(client, results):
    saved = {}
    for number, (step, result) in enumerate(zip(SCENARIO["steps"], results, strict=True), 1):
        if "save" in step:
            saved[step["save"]] = result.get("result")
        if not is_expected(step, result, saved):
            sys.exit(f"tests/clients: {client}: step {number} {step} had the result {result}")


def is_expected(step, result, saved):
    if "error" in step or "error" in result:
        return result.get("error") == step.get("error")
    value = result["result"]
    if "contains" in step:
        found = set(value) if isinstance(value, dict) else {entry.get("kind") or entry.get("outcome") for entry in value}
        return found.issuperset(step["contains"])
    expected = step.get("expect", {})
    if "length" in expected:
        return len(value) == expected["length"]
    return all(value[name] == resolved(member, saved) for name, member in expected.items())


def resolved(value, saved):
    if isinstance(value, list):
        return [resolved(entry, saved) for entry in value]
    if isinstance(value, str) and value.startswith("$"):
        name, member = value[1:].split(".")
        return saved[name][member]
    return value


def stored(server, folder, identities):
    """Returns the stored data, with names instead of ids."""
    database = sqlite3.connect(f"file:{folder}/data/sealpost.db?mode=ro", uri=True)
    names = {who["api_key_id"]: who["label"] for who in identities}
    accounts = {who["account_id"]: who["label"] for who in identities}
    rows = database.execute("select id, sender, recipient, opened_at is not null from envelopes").fetchall()
    recipients = {recipient for _, _, recipient, _ in rows}
    sessions = {who["api_key_id"]: session(server, who) for who in identities if who["api_key_id"] in recipients}
    return {
        "envelopes": sorted((names[sender], names[recipient], text(server, sessions[recipient], id), opened)
                            for id, sender, recipient, opened in rows),
        "keys": database.execute("select handle, status from api_keys order by 1, 2").fetchall(),
        "idempotency keys": database.execute("select count(*) from idempotency_keys").fetchone()[0],
        "webhooks": sorted((names[key], status) for key, status in database.execute(
            "select api_key_id, status from webhooks where id not in (select id from deleted_webhooks)")),
        "policies": sorted((names[key], accept) for key, accept in database.execute(
            "select api_key_id, accept from policies")),
        "API tokens": sorted((names[key], name, scopes) for key, name, scopes in database.execute(
            "select api_key_id, name, scopes from api_tokens")),
        "activity": sorted((accounts[account], kind, count) for account, kind, count in database.execute(
            "select account_id, kind, count(*) from activity where kind <> 'login' group by 1, 2")),
    }


def session(server, who):
    login = {name: who[name] for name in ("account_id", "login_secret")}
    return {"key": who["api_key_id"], "token": server.post("/v1/auth/login", login).json()["session_token"]}


def text(server, recipient, envelope_id):
    opened = server.post("/v1/channel/open", {"envelope_id": envelope_id}, recipient).json()
    if "message" not in opened:
        sys.exit(f"tests/clients: {envelope_id} does not open: {opened}")
    return opened["message"]


def compare(client, first, outcome):
    for part, value in outcome.items():
        for name in first[part].keys() | value.keys():
            if first[part].get(name) != value.get(name):
                sys.exit(f"tests/clients: {client} differs in {name}:\n{first[part].get(name)}\n{value.get(name)}")


def check_faults(log):
    """Checks that the scenario meets every kind of fault."""
    missing = FAULTS - {fault for faults in log.values() for fault in faults}
    if missing:
        sys.exit(f"tests/clients: no request met the faults {sorted(missing)}: choose another seed")


FAULTS = {"busy", "cut", "expired", "gateway", "internal", "lost", "none", "rate", "wait"}
