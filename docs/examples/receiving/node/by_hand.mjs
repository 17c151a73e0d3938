// Receives events and verifies them with Node's standard modules only.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const BODY_BYTES_MAX = 64 * 1024;
const TOLERANCE_S = 5 * 60;

const secret = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
// In production, use a table with a unique column: an event may arrive again days later.
const seen = new Set();

// Whether one of the signatures is correct and at most five minutes old.
function isGenuine(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": list } = headers;
  if (!id || !list || !/^\d+$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return false;
  const hmac = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body);
  const mac = hmac.digest("base64");
  const expected = Buffer.from(`v1,${mac}`);
  return list.split(" ").some((entry) => {
    const given = Buffer.from(entry);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
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
