// Credentials, retries and errors, with a service in memory.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { inspect } from "node:util";

import { ApiError, Sealpost, type SealpostOptions, Unreachable } from "../src/index.js";
import { BY_CODE, MonthlyLimitExceeded, WebhookNotFound } from "../src/generated/errors.js";
import { pauseBeforeRetry } from "../src/retry.js";

const LOGIN = { accountId: "acct_1", loginSecret: "ls_1" };
const SENT = { envelope_id: "env_1" };
const DELETED = { webhook_id: "wh_1", deleted: true };

type Reply = () => Response;
type Received = { url: string; headers: Headers; body: string };

const json = (body: unknown) => () => Response.json(body);
const problem = (status: number, code: string, headers = {}) => () =>
  Response.json({ code, detail: "d" }, { status, headers: { "Content-Type": "application/problem+json", ...headers } });
const page = (status: number) => () => new Response("<html>", { status, headers: { "Content-Type": "text/html" } });
const broken = (code: string) => () => {
  throw Object.assign(new TypeError("fetch failed"), { cause: { code } });
};

/** Responds with the replies in order. A login always succeeds. */
function service(...replies: Reply[]) {
  const received: Received[] = [];
  const logins: Received[] = [];
  const fetch = async (url: unknown, options?: RequestInit) => {
    const request = { url: String(url), headers: new Headers(options?.headers), body: String(options?.body) };
    if (request.url.endsWith("/v1/auth/login")) {
      logins.push(request);
      return Response.json({ session_token: `st_${logins.length}` });
    }
    received.push(request);
    return (replies.shift() ?? json(SENT))();
  };
  const client = (options: Partial<SealpostOptions> = { login: LOGIN, apiKey: "ak_1" }) =>
    new Sealpost({ url: "https://sealpost.test/base/", fetch, retry: { firstPauseMs: 0 }, ...options });
  return { received, logins, client };
}

test("an expired session is renewed once", async () => {
  const { received, client } = service(json(SENT), problem(401, "UNAUTHORIZED"), json(SENT));
  const sealpost = client();
  await sealpost.send("bob", "one");
  await sealpost.send("bob", "two");
  const tokens = received.map(({ headers }) => headers.get("Authorization"));
  assert.deepEqual(tokens, ["Bearer st_1", "Bearer st_1", "Bearer st_2"]);
});

test("concurrent requests share a login", async () => {
  const { logins, client } = service();
  const sealpost = client();
  await Promise.all(Array.from({ length: 8 }, () => sealpost.send("bob", "one")));
  assert.equal(logins.length, 1);
});

test("a token is not renewed", async () => {
  const { received, logins, client } = service(problem(401, "UNAUTHORIZED"));
  await assert.rejects(client({ token: "kt_1" }).send("bob", "one"), ApiError);
  assert.equal(received[0]?.headers.get("Authorization"), "Bearer kt_1");
  assert.equal(logins.length, 0);
});

test("a send keeps its key in all tries", async () => {
  const { received, client } = service(broken("ECONNRESET"), problem(500, "INTERNAL_ERROR"), json(SENT));
  await client().send("bob", "one");
  assert.equal(received.length, 3);
  assert.equal(new Set(received.map(({ headers }) => headers.get("Idempotency-Key"))).size, 1);
  assert.equal(received[0]?.url, "https://sealpost.test/base/v1/channel/send");
});

test("a request that may have been processed is not repeated", async () => {
  const lost = service(broken("ECONNRESET"));
  await assert.rejects(lost.client().webhooks.delete("wh_1"), (fault) => fault instanceof Unreachable && fault.mayHaveBeenProcessed);
  const failed = service(problem(500, "INTERNAL_ERROR"));
  await assert.rejects(failed.client().webhooks.delete("wh_1"), ApiError);
  const behindProxy = service(page(503));
  await assert.rejects(behindProxy.client().webhooks.delete("wh_1"), ApiError);
});

test("a request without effect is repeated", async () => {
  await service(broken("ECONNREFUSED"), json(DELETED)).client().webhooks.delete("wh_1");
  await service(problem(503, "SERVICE_UNAVAILABLE"), json(DELETED)).client().webhooks.delete("wh_1");
  await service(page(503), json(SENT)).client().send("bob", "one");
});

test("a failure of TLS says that nothing was sent", async () => {
  for (const code of [
    "CERT_HAS_EXPIRED",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ]) {
    const { client } = service(broken(code));
    const isExpected = (fault: unknown) => fault instanceof Unreachable && !/may have been/.test(fault.message);
    await assert.rejects(client({ token: "kt_1", retry: { tries: 1 } }).webhooks.delete("wh_1"), isExpected, code);
  }
});

test("a real server without TLS is told apart", async () => {
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sealpost = new Sealpost({ url: `https://127.0.0.1:${port}`, token: "kt_1", retry: { tries: 1 } });
  const isExpected = (fault: unknown) => fault instanceof Unreachable && !fault.mayHaveBeenProcessed;
  await assert.rejects(sealpost.webhooks.delete("wh_1"), isExpected);
  server.close();
});

test("times are dates", async () => {
  const entry = { at: "2026-01-01T00:00:00.000Z", kind: "login", detail: "2026-01-01T00:00:00.000Z" };
  const { received, client } = service(json({ entries: [entry], next_cursor: null }), json({ envelopes: [], next_cursor: null }));
  for await (const { at, detail } of client().account.activity()) {
    assert.deepEqual([at, detail], [new Date(Date.UTC(2026, 0, 1)), entry.detail]);
  }
  for await (const _ of client().sent({ since: new Date(0) })) assert.fail();
  assert.deepEqual(JSON.parse(received[1]?.body ?? ""), { limit: 100, since: "1970-01-01T00:00:00.000Z" });
});

test("a value that JSON cannot hold is refused", async () => {
  const { received, client } = service();
  const sealpost = client();
  const invalid = new Date("yesterday");
  const token = { name: "orders", scopes: ["send" as const], expiresInDays: NaN };
  for (const [option, refused] of [
    ["since", () => sealpost.sent({ since: invalid }).next()],
    ["until", () => sealpost.sent({ until: invalid }).next()],
    ["limit", () => sealpost.sent({ pageSize: NaN }).next()],
    ["since", () => sealpost.webhooks.recover("wh_1", invalid)],
    ["until", () => sealpost.webhooks.recover("wh_1", new Date(0), { until: invalid })],
    ["expires_in_days", () => sealpost.account.createToken(token)],
  ] as const) {
    await assert.rejects(refused, (fault) => fault instanceof TypeError && fault.message.startsWith(`${option} is invalid`));
  }
  assert.equal(received.length, 0);
});

test("an account is opened without credentials", async () => {
  const opened = { account_id: "acct_1", api_key_id: "ak_1", login_secret: "ls_1", recovery_code: "rc_1" };
  const { client } = service(json(opened), json({ account_id: "acct_1" }));
  const { login, recoveryCode, identity } = await client({}).openAccount("Bob");
  assert.deepEqual([login, recoveryCode, identity.api_key_id], [LOGIN, "rc_1", "ak_1"]);
  await assert.rejects(client({}).openAccount("Bob"), /the account existed before/);
  await assert.rejects(client().openAccount("Bob"), /has an account already/);
});

test("a token is for the key of the client by default", async () => {
  const { received, client } = service();
  const token = { name: "orders", scopes: ["send" as const] };
  await client().account.createToken(token);
  await client().account.createToken({ ...token, apiKeyId: "ak_2", loginSecret: "ls_2", expiresInDays: 7 });
  assert.deepEqual(JSON.parse(received[0]?.body ?? ""), { login_secret: "ls_1", api_key_id: "ak_1", ...token });
  assert.deepEqual(JSON.parse(received[1]?.body ?? ""), {
    ...{ login_secret: "ls_2", api_key_id: "ak_2" },
    ...{ ...token, expires_in_days: 7 },
  });
  await assert.rejects(client({ login: LOGIN }).account.createToken(token), /pass apiKeyId/);
  await assert.rejects(client({ token: "kt_1", apiKey: "ak_1" }).account.createToken(token), /pass loginSecret/);
});

test("any operation can be called", async () => {
  const { received, client } = service(json({ handle: "bob" }));
  const { handle } = await client().call("POST /v1/did/resolve", { id: "bob" });
  assert.equal(handle, "bob");
  assert.equal(received[0]?.headers.get("X-DID-API-Key"), "ak_1");
});

test("a long wait is an error at once", async () => {
  const { client } = service(problem(429, "MONTHLY_LIMIT_EXCEEDED", { "Retry-After": "86400" }));
  const isExpected = (fault: unknown) => fault instanceof MonthlyLimitExceeded && fault.retryAfterMs === 86_400_000;
  await assert.rejects(client().send("bob", "one"), isExpected);
});

test("Retry-After is waited for", async () => {
  const { client } = service(problem(429, "RATE_LIMIT_EXCEEDED", { "Retry-After": "1" }), json(DELETED));
  const began = performance.now();
  await client().webhooks.delete("wh_1");
  assert.ok(performance.now() - began >= 999);
  const date = new Date(Date.now() + 7_200_000).toUTCString();
  const later = service(problem(503, "SERVICE_UNAVAILABLE", { "Retry-After": date }));
  const isExpected = (fault: unknown) => fault instanceof ApiError && Math.abs((fault.retryAfterMs ?? 0) - 7_200_000) < 60_000;
  await assert.rejects(later.client().webhooks.delete("wh_1"), isExpected);
});

test("Retry-After may have a fraction and any length", () => {
  const request = { method: "GET", url: "https://sealpost.test", headers: new Headers() };
  const fault = (text: string) =>
    new ApiError(request, new Response(null, { status: 503, headers: { "Retry-After": text } }), { code: "SERVICE_UNAVAILABLE" });
  const found = ["0", "0.5", "0.0001", "9".repeat(400), "-5", "soon 5"].map((text) => fault(text).retryAfterMs);
  assert.deepEqual(found, [0, 500, 1, Number.POSITIVE_INFINITY, undefined, undefined]);
  const patient = { retryAfterMaxMs: Number.POSITIVE_INFINITY };
  assert.equal(pauseBeforeRetry(patient, 1, fault("2592000")), 2 ** 31 - 1, "a longer timer would end at once");
});

test("a recovery needs no credentials", async () => {
  const { received, client } = service(json({ account_id: "acct_1", login_secret: "ls_2", recovery_code: "rc_2" }));
  const recovered = await client({}).recover("acct_1", "rc_1");
  assert.equal(recovered.login_secret, "ls_2");
  assert.equal(received[0]?.headers.get("Authorization"), null);
});

test("each code has a class, and unknown codes are errors too", async () => {
  for (const [code, Kind] of Object.entries(BY_CODE)) {
    const { client } = service(problem(418, code));
    const failed = client({ token: "kt_1", retry: { tries: 1 } }).webhooks.delete("wh_1");
    await assert.rejects(failed, (fault) => fault instanceof ApiError && fault.constructor === Kind && fault.code === code);
  }
  await assert.rejects(service(problem(404, "WEBHOOK_NOT_FOUND")).client().webhooks.delete("wh_1"), WebhookNotFound);
  await assert.rejects(service(problem(418, "TEAPOT")).client().webhooks.delete("wh_1"), { code: "TEAPOT" });
});

test("a page is not a response of the service", async () => {
  await assert.rejects(service(page(200)).client().send("bob", "one"), /check the URL/);
});

test("an error does not contain the token", async () => {
  for (const reply of [problem(404, "KEY_NOT_FOUND"), problem(401, "UNAUTHORIZED"), page(502), broken("ECONNREFUSED")]) {
    const { received, client } = service(reply);
    const fault = await client({ token: "kt_1", retry: { tries: 1 } }).send("bob", "one").catch((error: unknown) => error);
    assert.ok(fault instanceof ApiError || fault instanceof Unreachable);
    assert.doesNotMatch(inspect(fault, { depth: null, showHidden: true }), /kt_1/);
    assert.equal(received[0]?.headers.get("Authorization"), "Bearer kt_1");
  }
  assert.throws(() => service().client({ token: "kt_1\nkt_2" }), { message: "the token has a line break or a null character" });
  assert.throws(() => service().client({ url: "http://user@example.org" }), { message: "the URL has a user" });
});

test("a success of a proxy is not a response of the service", async () => {
  const replies = ["text/plain", "application/octet-stream", "application/xhtml+xml"].map(
    (kind) => () => new Response("ok", { headers: { "Content-Type": kind } }),
  );
  const empty = [204, 304].map((status) => () => new Response(null, { status }));
  for (const reply of [...replies, ...empty]) {
    const { received, client } = service(reply);
    await assert.rejects(client().send("bob", "one"), (fault) => fault instanceof ApiError && /check the URL/.test(fault.message));
    assert.equal(received.length, 1);
  }
  const plain = () => new Response("eyJ", { headers: { "Content-Type": "text/plain" } });
  assert.equal(await service(plain).client().statusList("1"), "eyJ");
});

test("an incomplete response is a lost response", async () => {
  const cut = (status: number) => () =>
    new Response('{"envelope_id": "env', { status, headers: { "Content-Type": "application/problem+json" } });
  const { received, client } = service(cut(200), cut(502));
  assert.equal((await client().send("bob", "one")).envelope_id, "env_1");
  assert.equal(received.length, 3);
  await assert.rejects(service(cut(200)).client().webhooks.delete("wh_1"), (fault) => fault instanceof Unreachable && fault.mayHaveBeenProcessed);
});

test("an iterator follows the cursors", async () => {
  const first = json({ entries: [{ kind: "login" }], next_cursor: "c" });
  const { client } = service(first, json({ entries: [{ kind: "logout" }], next_cursor: null }));
  const kinds: string[] = [];
  for await (const { kind } of client().account.activity()) kinds.push(kind);
  assert.deepEqual(kinds, ["login", "logout"]);
});
