// Verification against the shared vectors, and the handlers for Fetch and Express.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import express from "express";

import { handler } from "../src/express.js";
import { InvalidSignature, Receiver, Sealpost, Webhook } from "../src/index.js";
import { SECRET, signed } from "./signed.js";

type Case = {
  name: string;
  headers: Record<string, string>;
  body: string;
  now: number;
  secrets: string[];
  public_key: string | null;
  valid: boolean;
};

const PUBLIC_KEY = "whpk_aI98mYEXUhV2xnTKmZp4Okx9QEpQAUuWekde5wWGtCI=";

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
  for (const key of ["whsec_", "whsec_%", "whpk_%", "whpk_AAAA", "nope", "bm9wZQ==", "whsec_bm9wZQ==", SECRET.slice(6)]) {
    assert.throws(() => new Webhook(key), /starts with whsec_ or whpk_/, key);
  }
  for (const keys of [[], [""], [undefined as unknown as string]]) assert.throws(() => new Webhook(...keys), /is missing/);
});

test("parsed JSON is not a body", async () => {
  for (const body of [{}, [], null, 7]) {
    const verified = new Webhook(SECRET).verify(signed("env_1").headers, body as unknown as string);
    await assert.rejects(verified, /pass the raw body as bytes or text, not the parsed JSON/);
  }
});

test("whatever a stranger sends, verify throws only InvalidSignature", async () => {
  const webhook = new Webhook(SECRET, PUBLIC_KEY);
  const now = new Date(1_700_000_000_000);
  const random = generator(7);
  const text = () => String.fromCharCode(...Array.from({ length: random(40) }, () => random(65_536)));
  const pick = <T>(...values: T[]): T => values[random(values.length)] as T;
  for (let round = 0; round < 3_000; round++) {
    const entries = Array.from({ length: random(4) }, () => pick("v1,", "v1a,", "v1,AAAA", "v1a,AAAA", "") + text());
    const headers = {
      "webhook-id": pick<string | string[] | undefined>("env_1", text(), "", ["env_1"], undefined),
      "webhook-timestamp": pick("1700000000", "9".repeat(400), "-1", text()),
      "webhook-signature": pick(entries.join(" "), text()),
      [text()]: text(),
    };
    const body = pick<string | Uint8Array>(text(), new Uint8Array(random(40)));
    await assert.rejects(webhook.verify(headers, body, now), InvalidSignature);
  }
});

test("a signed body that is no event is an invalid signature", async () => {
  for (const body of ["", "[", "null", "[".repeat(60_000), "\ud800"]) {
    const { headers } = signed("env_1", body);
    await assert.rejects(new Webhook(SECRET).verify(headers, body), InvalidSignature, body.slice(0, 10));
  }
});

test("times of events are dates", async () => {
  const body = JSON.stringify({ event: "envelope.received", metadata: { timestamp: "2026-01-01T00:00:00.000Z" } });
  const event = await new Webhook(SECRET).verify(signed("env_1", body).headers, body);
  assert.ok(event.kind === "envelope.received");
  assert.deepEqual(event.body.metadata.timestamp, new Date(Date.UTC(2026, 0, 1)));
});

/** Returns a function with random numbers below a limit, the same in each run. */
function generator(seed: number) {
  return (limit: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * limit);
  };
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

test("a repeated event succeeds only after the first request", async () => {
  let calls = 0;
  let start = () => {};
  let release = () => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const client = new Sealpost({ url: "https://sealpost.test", token: "kt_1", fetch: async () => Response.json({ message: "Noon." }) });
  const onEnvelope = async () => {
    start();
    if (++calls > 1) return;
    await released;
    throw new Error("a fault of the program");
  };
  const subject = new Receiver({ client, webhook: new Webhook(SECRET), onEnvelope });
  const { headers, body } = signed("env_1");
  const receive = () => subject.receive(headers, new TextEncoder().encode(body));
  const first = receive();
  await started;
  assert.equal(await receive(), 503);
  release();
  await assert.rejects(first, /a fault of the program/);
  assert.deepEqual([await receive(), await receive(), calls], [204, 204, 2]);
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
