// The relay, against a server in this process that speaks the protocol of the service.
import assert from "node:assert/strict";
import { getEventListeners, on, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { format } from "node:util";

import { type WebSocket, WebSocketServer } from "ws";

import { KeyInactive, QuotaExceeded, Unauthorized, WebhookNotFound } from "../src/generated/errors.js";
import { type Event, Receiver, Sealpost, Webhook } from "../src/index.js";
import { type Relay, relay } from "../src/relay.js";
import { SECRET, signed } from "./signed.js";

type Refusal = [status: number, code: string, headers?: Record<string, string>];
type Step = Refusal | ((socket: WebSocket) => Promise<void>);
type Answers = Record<string, number>;

const LOGIN = { accountId: "acct_1", loginSecret: "ls_1" };
const REJECTED: Refusal = [401, "UNAUTHORIZED"];

console.warn = () => {};

/** A relay server. Each connection gets the next step: a refusal, or a function that speaks with the client. */
async function fakeRelay(context: TestContext, ...steps: Step[]) {
  const requests: IncomingMessage[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const server = createServer().on("upgrade", (request, socket, head) => {
    requests.push(request);
    const step = steps.shift();
    if (typeof step === "function") {
      sockets.handleUpgrade(request, socket, head, (connection) => {
        void step(connection).then(() => steps.length === 0 && end());
      });
      return;
    }
    const [status, code, headers = {}] = step ?? [500, "INTERNAL_ERROR"];
    const body = JSON.stringify({ code, detail: "d" });
    const fields = { "Content-Type": "application/problem+json", "Content-Length": body.length, Connection: "close", ...headers };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  let logins = 0;
  const fetch = async (url: unknown) =>
    Response.json(String(url).endsWith("/login") ? { session_token: `st_${++logins}` } : { message: "Noon." });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  const client = (options = {}) => new Sealpost({ url, login: LOGIN, apiKey: "ak_1", fetch, ...options });
  /** Runs a relay until the last step has ended. */
  const run = async (subject: Relay) => {
    void ended.then(() => subject.stop());
    await subject.run();
  };
  const tokens = () => requests.map(({ headers }) => headers.authorization);
  return { requests, client, run, tokens, ended };
}

function frame(number: number, event = signed(`env_${number}`)): string {
  return JSON.stringify({ delivery: String(number), headers: event.headers, body: event.body });
}

/** Sends frames, and returns the status of each answer. */
async function answers(socket: WebSocket, count: number, ...frames: string[]): Promise<Answers> {
  const found: Answers = {};
  for (const text of frames) socket.send(text);
  for await (const [data] of on(socket, "message")) {
    const { delivery, status } = JSON.parse(String(data));
    found[delivery] = status;
    if (Object.keys(found).length === count) break;
  }
  return found;
}

const onEvent = (_: Event) => {};
const options = { webhook: new Webhook(SECRET) };

test("deliveries reach the receiver", async (context) => {
  const statuses: Answers[] = [];
  const received: string[] = [];
  const { requests, client, run } = await fakeRelay(context, async (socket) => {
    statuses.push(await answers(socket, 1, frame(1)), await answers(socket, 1, frame(2, signed("env_1"))));
  });
  const onEnvelope = ({ message }: { message: string }) => void received.push(message);
  const receiver = new Receiver({ client: client(), webhook: options.webhook, onEnvelope });
  await run(relay(client(), "wh_1", (headers, body) => receiver.receive(headers, body)));
  assert.deepEqual([received, statuses], [["Noon."], [{ 1: 204 }, { 2: 204 }]]);
  assert.equal(requests[0]?.url, "/base/v1/webhooks/relay?webhook_id=wh_1");
  assert.equal(requests[0]?.headers["x-did-api-key"], "ak_1");
});

test("the handler gets verified events", async (context) => {
  let statuses: Answers = {};
  const changed = { ...signed("env_2"), body: "{}" };
  const { client, run, tokens } = await fakeRelay(context, async (socket) => {
    const unknown = ["a frame of a newer service", '{"delivery": "0", "headers": null, "body": 7}'];
    statuses = await answers(socket, 3, ...unknown, frame(1), frame(2, changed), frame(3, signed("env_faulty")));
  });
  const errors: string[] = [];
  context.mock.method(console, "error", (...parts: unknown[]) => errors.push(format(...parts)));
  const handle = (event: Event) => {
    assert.equal(event.kind, "envelope.received");
    if (event.id === "env_faulty") throw Object.assign(new Error("a fault of the program"), { token: "kt_1" });
  };
  await run(relay(client({ token: "kt_1", login: undefined }), "wh_1", handle, options));
  assert.deepEqual(statuses, { 1: 204, 2: 401, 3: 500 });
  assert.deepEqual(tokens(), ["Bearer kt_1"]);
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? "", /a fault of the program\n +at /);
  assert.doesNotMatch(errors[0] ?? "", /kt_1/);
});

test("a response can have more than a status", async (context) => {
  const received: unknown[] = [];
  const { client, run } = await fakeRelay(context, async (socket) => {
    socket.send(frame(1));
    const [data] = await once(socket, "message");
    received.push(JSON.parse(String(data)));
  });
  await run(relay(client(), "wh_1", () => ({ status: 503, retryAfterS: 7, body: "busy" })));
  assert.deepEqual(received, [{ delivery: "1", status: 503, retry_after: 7, body: "busy" }]);
});

test("a requested wait has whole seconds, rounded up", async (context) => {
  const received: unknown[] = [];
  const waits = [0, 0.2, 7.5, Number.POSITIVE_INFINITY];
  const { client, run } = await fakeRelay(context, async (socket) => {
    for (const number of waits.keys()) {
      socket.send(frame(number));
      const [data] = await once(socket, "message");
      received.push(JSON.parse(String(data)).retry_after);
    }
  });
  const responses = waits.map((retryAfterS) => ({ status: 503, retryAfterS }));
  await run(relay(client(), "wh_1", () => responses.shift() ?? 500));
  assert.deepEqual(received, [0, 1, 8, Number.MAX_SAFE_INTEGER]);
});

test("a lost connection is opened again", async (context) => {
  const { setTimeout } = globalThis;
  let statuses: Answers = {};
  context.mock.method(globalThis, "setTimeout", (end: () => void, ms = 0) => setTimeout(end, ms < 30_000 ? 0 : ms));
  const { requests, client, run } = await fakeRelay(
    context,
    async (socket) => socket.close(1011),
    [503, "SERVICE_UNAVAILABLE"],
    [403, "KEY_INACTIVE", { "Retry-After": "0" }],
    [204, "", { "Content-Length": "0" }],
    [304, "", { "Content-Length": "0" }],
    [502, "", { "Content-Length": "500" }],
    [200, "", { "Content-Type": "text/plain" }],
    async (socket) => void (statuses = await answers(socket, 1, frame(1))),
  );
  await run(relay(client(), "wh_1", onEvent, options));
  assert.equal(requests.length, 8);
  assert.deepEqual(statuses, { 1: 204 });
});

test("a silent connection is replaced, except while 32 handlers run", async (context) => {
  const { setTimeout, clearTimeout } = globalThis;
  let silence: (() => void) | undefined;
  const timer = { unref: () => timer };
  const arm = (end: () => void, ms?: number) => (ms === 60_000 ? ((silence = end), timer) : setTimeout(end, ms && 0));
  context.mock.method(globalThis, "setTimeout", arm);
  context.mock.method(globalThis, "clearTimeout", (set: unknown) => {
    if (set === timer) silence = undefined;
    else clearTimeout(set as NodeJS.Timeout);
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const { requests, client, run } = await fakeRelay(
    context,
    async (socket) => {
      socket.ping();
      await once(socket, "pong");
      silence?.();
    },
    async (socket) => {
      const answered = answers(socket, 33, ...Array.from({ length: 33 }, (_, number) => frame(number)));
      while (silence !== undefined) await new Promise(setImmediate);
      release();
      await answered;
      assert.notEqual(silence, undefined);
    },
  );
  await run(relay(client(), "wh_1", () => released, options));
  assert.equal(requests.length, 2);
});

test("lost connections that still count only delay the relay", async (context) => {
  const { setTimeout } = globalThis;
  const warnings: string[] = [];
  const { requests, client, run } = await fakeRelay(
    context,
    async (socket) => socket.close(1011),
    [403, "QUOTA_EXCEEDED"],
    async () => {},
  );
  context.mock.method(console, "warn", (line: string) => warnings.push(line));
  const skip = (end: () => void, ms?: number) => setTimeout(end, ms === 30_000 ? 0 : ms);
  context.mock.method(globalThis, "setTimeout", skip);
  await run(relay(client(), "wh_1", onEvent, options));
  assert.equal(requests.length, 3);
  assert.match(warnings[1] ?? "", /QUOTA_EXCEEDED.*in 30000 ms/);
});

test("a refusal ends the relay", async (context) => {
  const refusals: [Refusal, new (...given: never[]) => Error][] = [
    [REJECTED, Unauthorized],
    [[403, "KEY_INACTIVE"], KeyInactive],
    [[403, "QUOTA_EXCEEDED"], QuotaExceeded],
    [[404, "WEBHOOK_NOT_FOUND"], WebhookNotFound],
  ];
  for (const [refusal, expected] of refusals) {
    const { client, run } = await fakeRelay(context, refusal);
    await assert.rejects(run(relay(client({ token: "kt_1", login: undefined }), "wh_1", onEvent, options)), expected);
  }
});

test("an ended session is renewed", async (context) => {
  const ended = async (socket: WebSocket) => socket.close(1008, "the session or API token has ended");
  const renewed = await fakeRelay(context, REJECTED, ended, REJECTED, async () => {});
  await renewed.run(relay(renewed.client(), "wh_1", onEvent, options));
  assert.deepEqual(renewed.tokens(), ["Bearer st_1", "Bearer st_2", "Bearer st_2", "Bearer st_3"]);
  const refused = await fakeRelay(context, REJECTED, REJECTED);
  await assert.rejects(refused.run(relay(refused.client(), "wh_1", onEvent, options)), Unauthorized);
});

test("a session outlives a silent connection", async (context) => {
  const warnings = context.mock.method(console, "warn", () => {});
  const silent = async (socket: WebSocket) => socket.close(1008, "the receiver was silent for 60 seconds");
  const { client, run, tokens } = await fakeRelay(context, silent, async () => {});
  await run(relay(client(), "wh_1", onEvent, options));
  assert.deepEqual(tokens(), ["Bearer st_1", "Bearer st_1"]);
  assert.match(String(warnings.mock.calls[0]?.arguments), /code 1008 the receiver was silent for 60 seconds; connecting again/);
});

test("stopping waits for running handlers, at most 32", async (context) => {
  let running = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let statuses: Answers = {};
  const { client, ended } = await fakeRelay(context, async (socket) => {
    statuses = await answers(socket, 32, ...Array.from({ length: 40 }, (_, number) => frame(number)));
  });
  const handle = async () => {
    if (++running === 32) {
      await new Promise((resolve) => setTimeout(resolve, 100)); // Time for a handler too many.
      subject.stop();
      release();
    }
    await released;
  };
  const subject = relay(client(), "wh_1", handle, options);
  await subject.run();
  await ended;
  assert.equal(Object.keys(statuses).length, 32);
  assert.equal(running, 32);
});

test("a final refusal waits for running handlers", async (context) => {
  let start = () => {};
  const started = new Promise<void>((resolve) => (start = resolve));
  const handled: string[] = [];
  const { client, run, requests } = await fakeRelay(
    context,
    async (socket) => {
      socket.send(frame(1));
      await started;
      socket.close(1011);
    },
    [404, "WEBHOOK_NOT_FOUND"],
  );
  const { setTimeout } = globalThis;
  let drains = () => {};
  const draining = new Promise<void>((resolve) => (drains = resolve));
  context.mock.method(globalThis, "setTimeout", (end: () => void, ms = 0) => {
    if (ms === 15_000) drains();
    return setTimeout(end, ms < 15_000 ? 0 : ms);
  });
  const handle = async ({ id }: Event) => {
    start();
    await draining;
    await new Promise(setImmediate);
    handled.push(id);
  };
  const subject = relay(client({ token: "kt_1", login: undefined }), "wh_1", handle, options);
  await assert.rejects(run(subject), WebhookNotFound);
  assert.deepEqual([handled, requests.length], [["env_1"], 2]);
});

test("the handlers of a lost connection count for the limit", async (context) => {
  let running = 0;
  let fill = () => {};
  let release = () => {};
  const full = new Promise<void>((resolve) => (fill = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  let statuses: Answers = {};
  const { client, run } = await fakeRelay(
    context,
    async (socket) => {
      for (let number = 0; number < 32; number++) socket.send(frame(number));
      await full;
      socket.terminate();
    },
    async (socket) => {
      const answered = answers(socket, 1, frame(40));
      setTimeout(release, 100); // Time for a handler too many.
      statuses = await answered;
    },
  );
  let highest = 0;
  let handled = 0;
  const handle = async () => {
    handled++;
    highest = Math.max(highest, ++running);
    if (running === 32) fill();
    await released;
    running--;
  };
  await run(relay(client(), "wh_1", handle, options));
  assert.deepEqual([statuses, highest, handled], [{ 40: 204 }, 32, 33]);
});

test("a response that cannot be sent is a failure", async (context) => {
  let statuses: Answers = {};
  const { client, run } = await fakeRelay(context, async (socket) => {
    statuses = await answers(socket, 1, frame(1));
  });
  const errors = context.mock.method(console, "error", () => {});
  await run(relay(client(), "wh_1", (() => undefined) as unknown as () => number));
  assert.deepEqual([statuses, errors.mock.callCount()], [{ 1: 500 }, 1]);
});

test("a relay that reconnects has only the listeners of its present wait", async (context) => {
  const { setTimeout } = globalThis;
  context.mock.method(globalThis, "setTimeout", (end: () => void, ms = 0) => setTimeout(end, ms < 15_000 ? 0 : ms));
  const { addEventListener } = EventTarget.prototype;
  const counts: number[] = [];
  context.mock.method(EventTarget.prototype, "addEventListener", function (this: EventTarget, ...given: never[]) {
    addEventListener.apply(this, given as unknown as Parameters<typeof addEventListener>);
    if (this instanceof AbortSignal) counts.push(getEventListeners(this, "abort").length);
  });
  const lose = async (socket: WebSocket) => socket.close(1011);
  const { client, run } = await fakeRelay(context, lose, lose, lose, async () => {});
  await run(relay(client(), "wh_1", onEvent, options));
  assert.ok(counts.length >= 6);
  assert.equal(Math.max(...counts), 1);
});
