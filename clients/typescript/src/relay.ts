import WebSocket from "ws";

import type { Sealpost } from "./client.js";
import { ApiError, InvalidSignature, Unreachable } from "./errors.js";
import { TIMER_MAX_MS } from "./retry.js";
import { errorOf } from "./transport.js";
import type { Event, Webhook } from "./webhook.js";

/** The response to a delivery. It means the same as a response to a POST request. */
export interface RelayResponse {
  status: number;
  /** Seconds before the next attempt, for status 429 and 503. Rounded up to whole seconds. */
  retryAfterS?: number;
  /** The body of the response, for the delivery log. */
  body?: string;
}

type Responded = number | RelayResponse;

/** Processes a delivery, and returns the status to respond with: for example `receiver.receive`. */
export type DeliveryHandler = (headers: Record<string, string>, body: Uint8Array) => Responded | Promise<Responded>;

export interface RelayOptions {
  /** The webhook of the deliveries, for a handler of verified events. */
  webhook: Webhook;
}

/**
 * Returns the receiving end of a webhook with the URL `relay:`. Its `run` receives deliveries over one outgoing connection.
 *
 * With `webhook`, the handler gets each verified event. Otherwise it gets the headers and the body of each delivery, and
 * returns a status or a `RelayResponse`, as `Receiver.receive` does. If the handler throws, the status is 500, and the
 * service sends the event again later.
 */
export function relay(client: Sealpost, webhookId: string, handler: DeliveryHandler): Relay;
export function relay(
  client: Sealpost,
  webhookId: string,
  handler: (event: Event) => void | Promise<void>,
  options: RelayOptions,
): Relay;
export function relay(
  client: Sealpost,
  webhookId: string,
  handler: DeliveryHandler | ((event: Event) => void | Promise<void>),
  options?: RelayOptions,
): Relay {
  if (options === undefined) return new Relay(client, webhookId, handler as DeliveryHandler);
  const onEvent = handler as (event: Event) => void | Promise<void>;
  return new Relay(client, webhookId, async (headers, body) => {
    await onEvent(await options.webhook.verify(headers, body));
    return 204;
  });
}

/** The receiving end of a webhook with the URL `relay:`. */
export class Relay {
  readonly #client: Sealpost;
  readonly #webhookId: string;
  readonly #handler: DeliveryHandler;
  readonly #stopping = new AbortController();

  constructor(client: Sealpost, webhookId: string, handler: DeliveryHandler) {
    this.#client = client;
    this.#webhookId = webhookId;
    this.#handler = handler;
  }

  /** Ends `run` after the running handlers. */
  stop(): void {
    this.#stopping.abort();
  }

  /**
   * Passes deliveries to the handler until `stop` is called, and connects again if a connection ends.
   *
   * Connects again after every close code. If the reason is permanent, the service refuses the next connection.
   * Throws `ApiError` if the service refuses the connection, for example because the webhook is deleted. On each way out,
   * waits for the running handlers for at most 15 seconds.
   */
  async run(): Promise<void> {
    const workers = new Workers();
    try {
      await this.#run(workers);
    } finally {
      await workers.drain();
    }
  }

  async #run(workers: Workers): Promise<void> {
    const { signal } = this.#stopping;
    let wasConnected = false;
    for (let failures = 0; !signal.aborted; ) {
      const began = performance.now();
      try {
        const socket = await this.#connect();
        wasConnected = true;
        await this.#receive(socket, workers);
      } catch (fault) {
        // The service may still count lost connections of this client, and refuse a connection over the limit.
        if (!isTemporary(fault) && !(wasConnected && isOverLimit(fault))) throw fault;
        if (signal.aborted) return;
        failures = performance.now() - began > STABLE_MS ? 1 : failures + 1;
        const ms = pauseAfter(failures, fault);
        console.warn(`sealpost: ${reasonOf(fault)}; connecting again in ${Math.round(ms)} ms`);
        await pause(ms, signal);
      }
    }
  }

  /** Opens a connection. Logs in again after a 401. */
  async #connect(): Promise<WebSocket> {
    const { transport } = this.#client;
    const url = new URL(`${transport.url}/v1/webhooks/relay`);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("webhook_id", this.#webhookId);
    for (let isFirst = true; ; isFirst = false) {
      const session = transport.session();
      const key = transport.apiKey === undefined ? {} : { "X-DID-API-Key": transport.apiKey };
      const token = session === undefined ? {} : { Authorization: `Bearer ${await session}` };
      const headers = { ...key, ...token };
      try {
        return await opened(url, headers);
      } catch (fault) {
        const isRejected = fault instanceof ApiError && fault.status === 401;
        if (!isRejected || !isFirst || !transport.discard(session)) throw fault;
      }
    }
  }

  /** Passes the deliveries of one connection to the handler. */
  async #receive(socket: WebSocket, workers: Workers): Promise<void> {
    const { signal } = this.#stopping;
    const ended = new Promise<string>((resolve) => {
      socket.on("close", (code, reason) => resolve(`${code} ${reason.toString()}`.trim()));
    });
    socket.on("error", () => {}); // The connection closes after an error.
    let silence: NodeJS.Timeout | undefined;
    const expectFrame = () => {
      clearTimeout(silence);
      // A paused socket reads no frames.
      if (!socket.isPaused) silence = setTimeout(() => socket.terminate(), SILENCE_MAX_MS).unref();
    };
    socket.on("ping", expectFrame);
    const resume = () => {
      if (!socket.isPaused) return;
      socket.resume();
      expectFrame();
    };
    const waiting: Delivery[] = [];
    const next = () => {
      // Without a connection, the service sends the waiting deliveries again.
      while (!workers.isFull && !signal.aborted && socket.readyState === WebSocket.OPEN) {
        const delivery = waiting.shift();
        if (delivery === undefined) return resume();
        workers.start(() => this.#answer(socket, delivery));
      }
    };
    workers.onEnd = next;
    socket.on("message", (data) => {
      const delivery = deliveryOf(String(data));
      if (delivery !== undefined) waiting.push(delivery);
      if (workers.isFull) socket.pause();
      expectFrame();
      next();
    });
    resume();
    const end = await unlessAborted(ended, signal);
    if (end === undefined) {
      await workers.drain();
      clearTimeout(silence);
      socket.resume(); // Reads the close frame of the service.
      socket.close();
      await within(CLOSE_MAX_MS, ended);
      socket.terminate();
      return;
    }
    clearTimeout(silence);
    throw new Disconnected(`the connection ended with code ${end}`);
  }

  async #answer(socket: WebSocket, { id, headers, body }: Delivery): Promise<void> {
    let answer = answerTo(id, 500);
    try {
      answer = answerTo(id, await this.#handler(headers, body));
    } catch (fault) {
      if (fault instanceof InvalidSignature) answer = answerTo(id, 401);
      // The members of an error can contain credentials.
      else console.error("sealpost: the handler failed:", fault instanceof Error ? fault.stack : fault);
    }
    // Without a connection, the service sends the delivery again.
    if (socket.readyState === WebSocket.OPEN) socket.send(answer);
  }
}

/** Runs a limited number of handlers, also across connections. */
class Workers {
  /** Called after the end of each handler. */
  onEnd = () => {};
  readonly #running = new Set<Promise<void>>();

  get isFull(): boolean {
    return this.#running.size >= IN_FLIGHT_MAX;
  }

  start(work: () => Promise<void>): void {
    const running = work().finally(() => {
      this.#running.delete(running);
      this.onEnd();
    });
    this.#running.add(running);
  }

  /** Waits for the running handlers. Does not wait a second time for those that take too long. */
  async drain(): Promise<void> {
    await within(DRAIN_MAX_MS, Promise.allSettled(this.#running));
    this.#running.clear();
  }
}

/** A connection failed or ended. */
class Disconnected extends Error {}

interface Delivery {
  id: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Returns the frame of an answer. */
function answerTo(id: string, responded: Responded): string {
  const response = typeof responded === "number" ? { status: responded } : responded;
  const { status, retryAfterS, body } = response;
  // JSON has no infinity.
  const retry_after = retryAfterS === undefined ? undefined : Math.ceil(Math.min(retryAfterS, Number.MAX_SAFE_INTEGER));
  // The log keeps 1,024 bytes, and a longer frame may be refused.
  const excerpt = body?.slice(0, 1024).replace(/[\uD800-\uDBFF]$/, "");
  return JSON.stringify({ delivery: id, status, retry_after, body: excerpt });
}

/** Returns undefined for a frame that this version of the package does not know. */
function deliveryOf(frame: string): Delivery | undefined {
  try {
    const { delivery, headers, body } = JSON.parse(frame);
    if (typeof delivery !== "string" || typeof headers !== "object" || typeof body !== "string") return undefined;
    return { id: delivery, headers, body: new TextEncoder().encode(body) };
  } catch {
    return undefined;
  }
}

/** Opens a WebSocket. Throws `ApiError` for a response that is not an upgrade. */
function opened(url: URL, headers: Record<string, string>): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, handshakeTimeout: HANDSHAKE_MS, maxPayload: FRAME_BYTES_MAX });
    socket.on("open", () => {
      socket.pause(); // Until there is a handler of messages.
      resolve(socket);
    });
    const fail = (cause: unknown) => reject(new Disconnected(`no connection to ${url}`, { cause }));
    socket.on("error", fail);
    socket.on("unexpected-response", (request, response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        request.destroy();
        const { statusCode: status = 0, headers: received } = response;
        const fields = Object.entries(received).map(([name, value]): [string, string] => [name, String(value)]);
        const refusal = { status, headers: new Headers(fields), text: Buffer.concat(chunks).toString() };
        const sent = { method: "GET", url: String(url), headers: new Headers() };
        reject(errorOf(sent, refusal) ?? new Disconnected(`status ${status}`));
      });
    });
  });
}

function reasonOf(fault: unknown): string {
  const { message, cause } = fault as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** Returns whether another connection can succeed. */
function isTemporary(fault: unknown): boolean {
  if (fault instanceof ApiError) return !REFUSED.has(fault.status) || fault.retryAfterMs !== undefined;
  return fault instanceof Disconnected || fault instanceof Unreachable;
}

/** Returns whether the service refused a connection over the limit. */
function isOverLimit(fault: unknown): boolean {
  return fault instanceof ApiError && fault.code === "QUOTA_EXCEEDED";
}

/**
 * Returns the time until the next connection. It doubles, and is shortened by a random part of up to a half. Lost
 * connections that the service still counts need the longest pause.
 */
function pauseAfter(failures: number, fault: unknown): number {
  const doubled = Math.min(PAUSE_FIRST_MS * 2 ** (failures - 1), PAUSE_MAX_MS) * (1 - Math.random() / 2);
  const backoff = isOverLimit(fault) ? PAUSE_MAX_MS : doubled;
  const asked = fault instanceof ApiError ? (fault.retryAfterMs ?? 0) : 0;
  return Math.min(Math.max(backoff, asked), TIMER_MAX_MS);
}

/** Waits until the time is over or the signal is aborted. Removes its listener, because the signal lives longer. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** Returns the result, or undefined if the signal is aborted first. Removes its listener. */
async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let end = () => {};
  const aborted = new Promise<undefined>((resolve) => (end = () => resolve(undefined)));
  signal.addEventListener("abort", end);
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Waits for the end of the work, at most this long. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, elapsed]);
  clearTimeout(timer);
}

const IN_FLIGHT_MAX = 32;
const PAUSE_FIRST_MS = 500;
const PAUSE_MAX_MS = 30_000;
/** A connection of this length ends a series of failures. */
const STABLE_MS = 60_000;
/** Longest wait for running handlers at the end. */
const DRAIN_MAX_MS = 15_000;
/** Longest wait for the close frame of the service. */
const CLOSE_MAX_MS = 1_000;
const HANDSHAKE_MS = 10_000;
/** Longest time without a frame. The service sends a ping every 20 seconds. */
const SILENCE_MAX_MS = 60_000;
const FRAME_BYTES_MAX = 1024 * 1024;
/** Statuses that another try does not change. */
const REFUSED = new Set([400, 401, 403, 404]);
