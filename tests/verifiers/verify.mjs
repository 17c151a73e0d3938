// What Node's libraries say of notices: standardwebhooks with secrets, Node's own crypto with a public key.
//
// Reads a JSON array of notices from standard input and writes a JSON array of verdicts. A notice may bring the instant
// at which it is to be judged.

import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const realNow = Date.now;

function isBelieved(notice) {
  Date.now = notice.now === null ? realNow : () => notice.now * 1000;
  if (notice.public_key !== null) return isSignedByKey(notice);
  return notice.secrets.some((secret) => isSignedWith(secret, notice));
}

function isSignedWith(secret, notice) {
  try {
    new Webhook(secret).verify(Buffer.from(notice.body), notice.headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

// Standard Webhooks' rules for v1a, which the library does not know yet.
function isSignedByKey(notice) {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => notice.headers[`webhook-${name}`]);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const x = Buffer.from(notice.public_key.slice("whpk_".length), "base64").toString("base64url");
  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
  const content = Buffer.from(`${id}.${timestamp}.${notice.body}`);
  const entries = signatures.split(" ").filter((entry) => entry.startsWith("v1a,"));
  return entries.some((entry) => verify(null, content, key, Buffer.from(entry.slice(4), "base64")));
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(isBelieved)));
