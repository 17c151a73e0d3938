// Receives notices; the standardwebhooks package verifies them (npm install standardwebhooks).

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const BODY_BYTES_MAX = 64 * 1024;

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_...
const seen = new Set(); // In production a table with a unique column: the same notice may come again days later.

async function receive(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return 413;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks); // The raw bytes: parsed and written again they would not match.
  let notice;
  try {
    notice = webhook.verify(body, request.headers);
  } catch {
    return 401;
  }
  const id = request.headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    console.log("new envelope", notice.envelope_id); // Put it into a queue; work on it later.
  }
  return 204; // Any 2xx, also for a notice that came before.
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(), // The sender broke off.
  );
});
server.listen(Number(process.env.PORT ?? 8090), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
