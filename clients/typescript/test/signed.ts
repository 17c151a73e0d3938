// Events as the service signs them.
import { createHmac } from "node:crypto";

export const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/** Returns the request of an event. */
export function signed(id: string, body = JSON.stringify({ event: "envelope.received", envelope_id: id })) {
  const timestamp = String(Math.trunc(Date.now() / 1000));
  const key = Buffer.from(SECRET.slice(6), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${mac}` };
  return { method: "POST", headers, body };
}
