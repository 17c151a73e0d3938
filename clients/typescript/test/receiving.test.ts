// Verification against the shared vectors, and the handlers for Fetch and Express.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import express from "express";

import { handler } from "../src/express.js";
import { InvalidSignature, Receiver, Sealpost, Webhook } from "../src/index.js";

type Case = {
  name: string;
  headers: Record<string, string>;
  body: string;
  now: number;
  secrets: string[];
  public_key: string | null;
  valid: boolean;
};

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

test("each vector has its verdict", async () => {
  const { cases } = JSON.parse(readFileSync(process.env["SEALPOST_VECTORS"] ?? "", "utf8")) as { cases: Case[] };
  assert.ok(cases.length > 10);
  for (const { name, headers, body, now, secrets, public_key, valid } of cases) {
    const webhook = new Webhook(...secrets, ...(public_key ? [public_key] : []));
    const verified = webhook.verify(headers, body, new Date(now * 1000));
    await (valid ? verified : assert.rejects(verified, InvalidSignature, name));
  }
});

test("a wrong key is refused", () => {
  for (const key of ["", "whsec_", "whsec_%", "whpk_%"]) assert.throws(() => new Webhook(key), TypeError);
});

/** Returns the request of an event. */
function signed(id: string) {
  const body = JSON.stringify({ event: "envelope.received", envelope_id: id });
  const timestamp = String(Math.trunc(Date.now() / 1000));
  const key = Buffer.from(SECRET.slice(6), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
  return { method: "POST", headers, body };
}

function receiver() {
  const received: string[] = [];
  const fetch = async (_: unknown, options?: RequestInit) => {
    if (!String(options?.body).includes("env_busy")) return Response.json({ message: "Noon." });
    const headers = { "Content-Type": "application/problem+json", "Retry-After": "3600" };
    return Response.json({ code: "RATE_LIMIT_EXCEEDED", detail: "d" }, { status: 429, headers });
  };
  const client = new Sealpost({ url: "https://sealpost.test", token: "kt_1", fetch });
  const webhook = new Webhook(SECRET);
  return { received, receiver: new Receiver({ client, webhook, onEnvelope: ({ message }) => void received.push(message) }) };
}

async function check(post: (request: RequestInit) => Promise<Response>, received: string[]) {
  const event = signed("env_1");
  assert.deepEqual([(await post(event)).status, (await post(event)).status], [204, 204]);
  assert.deepEqual(received, ["Noon."], "a repeated event is processed once");
  assert.equal((await post({ ...event, body: event.body + " " })).status, 401);
  assert.equal((await post({ ...event, headers: {} })).status, 401);
  assert.equal((await post({ ...event, body: " ".repeat(70_000) })).status, 413);
  assert.equal((await post(signed("env_busy"))).status, 503);
}

test("a store of the program remembers events", async () => {
  const received: string[] = [];
  const table = new Set<string>();
  const seen = { has: async (id: string) => table.has(id), add: async (id: string) => table.add(id) };
  const fetch = async () => Response.json({ message: "Noon." });
  const { headers, body } = signed("env_1");
  // As if the program had started twice.
  for (let start = 0; start < 2; start++) {
    const client = new Sealpost({ url: "https://sealpost.test", token: "kt_1", fetch });
    const onEnvelope = ({ message }: { message: string }) => void received.push(message);
    const subject = new Receiver({ client, webhook: new Webhook(SECRET), onEnvelope, seen });
    assert.equal(await subject.receive(headers, new TextEncoder().encode(body)), 204);
  }
  assert.deepEqual([received, [...table]], [["Noon."], ["env_1"]]);
});

test("the handler for Fetch", async () => {
  const { received, receiver: subject } = receiver();
  await check((request) => subject.fetch(new Request("https://example.com/hook", request)), received);
});

test("the handler for Express", async () => {
  const { received, receiver: subject } = receiver();
  const server = express().post("/hook", handler(subject)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await check((request) => fetch(`http://127.0.0.1:${port}/hook`, request), received);
  server.closeAllConnections();
  server.close();
});
