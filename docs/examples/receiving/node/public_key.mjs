// Receives events and verifies them with the service's public key and Node's standard modules.

import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";

const BODY_BYTES_MAX = 64 * 1024;
const TOLERANCE_S = 5 * 60;

const rawKey = Buffer.from(process.env.WEBHOOK_PUBLIC_KEY.replace(/^whpk_/, ""), "base64");
const key = createPublicKey({
  format: "jwk",
  key: { kty: "OKP", crv: "Ed25519", x: rawKey.toString("base64url") },
});
// In production, use a table with a unique column: an event may arrive again days later.
const seen = new Set();

// Whether one of the signatures is correct and at most five minutes old.
function isGenuine(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": list } = headers;
  if (!id || !list || !/^\d+$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const entries = list.split(" ").filter((entry) => entry.startsWith("v1a,"));
  return entries.some((entry) => verify(null, content, key, Buffer.from(entry.slice(4), "base64")));
}

async function receive(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return 413;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks); // Raw bytes: the signature does not match re-encoded JSON.
  if (!isGenuine(request.headers, body)) return 401;
  const id = request.headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    // Put the event into a queue and process it later.
    console.log("new envelope", JSON.parse(body).envelope_id);
  }
  return 204; // Any 2xx, also for a repeated event.
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(), // The sender closed the connection.
  );
});
server.listen(Number(process.env.PORT ?? 8090), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
