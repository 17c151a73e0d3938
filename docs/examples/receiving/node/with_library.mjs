// Receives events and verifies them with standardwebhooks: npm install standardwebhooks

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const BODY_BYTES_MAX = 64 * 1024;

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_...
// In production, use a table with a unique column: an event may arrive again days later.
const seen = new Set();

async function receive(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return 413;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks); // Raw bytes: the signature does not match re-encoded JSON.
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    return 401;
  }
  const id = request.headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    // Put the event into a queue and process it later.
    console.log("new envelope", event.envelope_id);
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
