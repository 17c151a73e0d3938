import { InvalidSignature } from "./errors.js";
import type {
  EnvelopeBounced,
  EnvelopeReceived,
  IdentityRotated,
  UsageThreshold,
  WebhookDisabled,
  WebhookFailing,
  WebhookTest,
} from "./generated/models.js";
import { parse } from "./json.js";

export const BODY_BYTES_MAX = 64 * 1024;
const TOLERANCE_S = 5 * 60;
const SECRET_BYTES_MIN = 24;
const PUBLIC_KEY_BYTES = 32;

/** A verified event. Newer services can send other kinds: ignore them. */
export type Event =
  | { id: string; kind: "envelope.received"; body: EnvelopeReceived }
  | { id: string; kind: "envelope.bounced"; body: EnvelopeBounced }
  | { id: string; kind: "identity.rotated"; body: IdentityRotated }
  | { id: string; kind: "usage.threshold"; body: UsageThreshold }
  | { id: string; kind: "webhook.disabled"; body: WebhookDisabled }
  | { id: string; kind: "webhook.failing"; body: WebhookFailing }
  | { id: string; kind: "webhook.test"; body: WebhookTest };

/** The headers of a request, as in Fetch or Node. */
export type ReceivedHeaders = Headers | Record<string, string | string[] | undefined>;

type Check = (content: Uint8Array<ArrayBuffer>, entry: string) => Promise<boolean>;

/**
 * Verifies the requests of a webhook.
 *
 * Each key is a secret (`whsec_…`) or a public key of the service (`whpk_…`). One matching key is enough.
 */
export class Webhook {
  readonly #checks: Check[];

  constructor(...keys: string[]) {
    if (keys.length === 0 || !keys.every(Boolean)) {
      throw new TypeError("the secret of the webhook is missing: pass it, or a public key of the service");
    }
    this.#checks = keys.map(checkOf);
  }

  /**
   * Verifies a request, and returns its event. `body` holds the bytes as received: encoded again, JSON differs.
   *
   * Throws `InvalidSignature` if no signature is correct, or the time differs by more than five minutes.
   */
  async verify(headers: ReceivedHeaders, body: Uint8Array | string, now: Date = new Date()): Promise<Event> {
    if (typeof body !== "string" && !(body instanceof Uint8Array)) {
      throw new TypeError("pass the raw body as bytes or text, not the parsed JSON");
    }
    const [id, timestamp, list] = ["id", "timestamp", "signature"].map((name) => valueOf(headers, `webhook-${name}`));
    if (!id || !timestamp || !list) {
      throw new InvalidSignature("a header is missing: webhook-id, webhook-timestamp or webhook-signature");
    }
    if (!/^\d+$/.test(timestamp)) throw new InvalidSignature("webhook-timestamp is not a number");
    const ageS = Math.trunc(now.getTime() / 1000) - Number(timestamp);
    if (Math.abs(ageS) > TOLERANCE_S) {
      throw new InvalidSignature(`the request was sent ${ageS} s ago: check the clock, at most ${TOLERANCE_S} s differ`);
    }
    const bytes = typeof body === "string" ? encode(body) : body;
    const content = joined(encode(`${id}.${timestamp}.`), bytes);
    if (!(await this.#matches(content, list.split(" ")))) {
      throw new InvalidSignature("no signature matches: check the secret, and pass the body as it was received");
    }
    return eventOf(id, bytes);
  }

  async #matches(content: Uint8Array<ArrayBuffer>, entries: string[]): Promise<boolean> {
    for (const entry of entries) {
      for (const check of this.#checks) {
        if (await check(content, entry)) return true;
      }
    }
    return false;
  }
}

function eventOf(id: string, bytes: Uint8Array): Event {
  try {
    const body = parse(new TextDecoder().decode(bytes)) as { event: string };
    return { id, kind: body.event, body } as Event;
  } catch (cause) {
    throw new InvalidSignature("the body is not an event of the service", { cause });
  }
}

/** Returns a function that checks one entry of `webhook-signature`. */
function checkOf(key: string): Check {
  const isPublic = key.startsWith("whpk_");
  const bytes = decode(/^wh(?:sec|pk)_(.*)$/.exec(key)?.[1] ?? "");
  const isLongEnough = isPublic ? bytes?.length === PUBLIC_KEY_BYTES : (bytes?.length ?? 0) >= SECRET_BYTES_MIN;
  if (bytes === undefined || !isLongEnough) {
    throw new TypeError(
      "this is not a key of a webhook: it starts with whsec_ or whpk_, followed by base64 of at least 24 bytes",
    );
  }
  const version = isPublic ? "v1a," : "v1,";
  const algorithm = isPublic ? { name: "Ed25519" } : { name: "HMAC", hash: "SHA-256" };
  let imported: Promise<CryptoKey> | undefined;
  return async (content, entry) => {
    const signature = entry.startsWith(version) ? decode(entry.slice(version.length)) : undefined;
    if (signature === undefined) return false;
    imported ??= crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
    // In constant time. A signature of another length is an error on some platforms.
    return crypto.subtle.verify(algorithm.name, await imported, signature, content).catch(() => false);
  };
}

function valueOf(headers: ReceivedHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === "string" ? found : undefined;
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Returns undefined for text that is not exactly base64. */
function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(base64);
    return btoa(text) === base64 ? Uint8Array.from(text, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
