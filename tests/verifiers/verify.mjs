// Verifies webhook requests: standardwebhooks with secrets, Node's own crypto with a public key.
//
// Reads a JSON array of requests from standard input and writes a JSON array of results. A request may contain the
// time of the verification.

import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const realNow = Date.now;

function isAccepted(request) {
  Date.now = request.now === null ? realNow : () => request.now * 1000;
  if (request.public_key !== null) return isSignedByKey(request);
  return request.secrets.some((secret) => isSignedWith(secret, request));
}

function isSignedWith(secret, request) {
  try {
    new Webhook(secret).verify(Buffer.from(request.body), request.headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

// Implements the v1a rules of Standard Webhooks, which the library does not support yet.
function isSignedByKey(request) {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => request.headers[`webhook-${name}`]);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const x = Buffer.from(request.public_key.slice("whpk_".length), "base64").toString("base64url");
  const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
  const content = Buffer.from(`${id}.${timestamp}.${request.body}`);
  const entries = signatures.split(" ").filter((entry) => entry.startsWith("v1a,"));
  return entries.some((entry) => verify(null, content, key, Buffer.from(entry.slice(4), "base64")));
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(isAccepted)));
