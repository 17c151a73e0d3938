// Opens the envelopes that a receiver reports: node by_hand.mjs | node open.mjs

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const { SEALPOST_URL, SESSION_TOKEN, API_KEY } = process.env;
const headers = {
  Authorization: `Bearer ${SESSION_TOKEN}`,
  "X-DID-API-Key": API_KEY,
  "Content-Type": "application/json",
};

/** Returns the opened envelope, or null if the service refuses it permanently. */
async function openEnvelope(envelopeId) {
  const body = JSON.stringify({ envelope_id: envelopeId });
  for (;;) {
    const url = `${SEALPOST_URL}/v1/channel/open`;
    const response = await fetch(url, { method: "POST", headers, body });
    const content = await response.json();
    if (response.ok) return content;
    if (response.status !== 429 && response.status !== 503) {
      console.error(envelopeId, response.status, content.code);
      return null;
    }
    await sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
  }
}

function act(envelope) {
  console.log(`${envelope.sender}: ${envelope.message}`); // Your work comes here.
}

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.startsWith("new envelope ")) continue;
  const envelope = await openEnvelope(line.split(" ")[2]);
  if (envelope) act(envelope);
}
