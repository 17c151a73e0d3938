import { read, type Receiver } from "./receiver.js";

/** The parts of Express and `node:http` that the handler needs. */
interface IncomingRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  readableEnded?: boolean;
}
interface OutgoingResponse {
  statusCode: number;
  end(): unknown;
}

/**
 * Returns a handler for `app.post("/hook", handler(receiver))`, and for `node:http`.
 *
 * Register it before `express.json()`: the signature covers the bytes as received.
 */
export function handler(receiver: Receiver) {
  return async (request: IncomingRequest, response: OutgoingResponse, next?: (fault: unknown) => void): Promise<void> => {
    try {
      if (request.readableEnded) throw new Error("the body was read before: register this handler before express.json()");
      const body = await read(request);
      response.statusCode = body ? await receiver.receive(request.headers, body) : 413;
    } catch (fault) {
      if (next) return next(fault);
      response.statusCode = 500;
    }
    response.end();
  };
}
