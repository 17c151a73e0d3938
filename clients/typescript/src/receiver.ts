import type { Sealpost } from "./client.js";
import { ApiError, InvalidSignature, Unreachable } from "./errors.js";
import type { Opened } from "./generated/models.js";
import { BODY_BYTES_MAX, type Event, type ReceivedHeaders, type Webhook } from "./webhook.js";

/** Remembers processed events. */
export interface Seen {
  has(id: string): boolean | Promise<boolean>;
  add(id: string): unknown;
}

export interface ReceiverOptions {
  client: Sealpost;
  webhook: Webhook;
  /** Called once for each envelope. If it throws, the service sends the event again. */
  onEnvelope: (envelope: Opened) => void | Promise<void>;
  /** Called for events without an envelope. */
  onEvent?: (event: Event) => void | Promise<void>;
  /** By default the newest ids in memory. Pass your own, for example a table, if the program has several processes. */
  seen?: Seen;
}

/**
 * Verifies webhook requests, opens their envelopes, and passes each to your program once.
 *
 * An event that arrives again while it is processed in this process gets 503, and the service sends it again later.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #seen: Seen;
  /** The ids of the events that are processed now. */
  readonly #inProcess = new Set<string>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#seen = options.seen ?? new SeenInMemory();
  }

  /** Processes a request, and returns the status to respond with. */
  async receive(headers: ReceivedHeaders, body: Uint8Array): Promise<number> {
    let event: Event;
    try {
      event = await this.#options.webhook.verify(headers, body);
    } catch (fault) {
      if (fault instanceof InvalidSignature) return 401;
      throw fault;
    }
    if (this.#inProcess.has(event.id)) return 503;
    this.#inProcess.add(event.id);
    try {
      if (await this.#seen.has(event.id)) return 204;
      await this.#process(event);
      await this.#seen.add(event.id);
      return 204;
    } catch (fault) {
      if (isTemporary(fault)) return 503;
      throw fault;
    } finally {
      this.#inProcess.delete(event.id);
    }
  }

  /** A handler for Fetch: Deno, Bun, service workers, and routes of many frameworks. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const body = await read(request.body);
    return new Response(null, { status: body ? await this.receive(request.headers, body) : 413 });
  };

  async #process(event: Event): Promise<void> {
    const { client, onEnvelope, onEvent } = this.#options;
    if (event.kind === "envelope.received") await onEnvelope(await client.open(event.body.envelope_id));
    else await onEvent?.(event);
  }
}

function isTemporary(fault: unknown): boolean {
  return fault instanceof Unreachable || (fault instanceof ApiError && [429, 503].includes(fault.status));
}

/** Returns the bytes of a body, or undefined if it is too long. */
export async function read(chunks: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (chunks ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return undefined;
    parts.push(chunk);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** The ids of the newest processed events. */
class SeenInMemory implements Seen {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > 100_000 && oldest !== undefined) this.#ids.delete(oldest);
  }
}
