// Verifies a credential with jose and the status lists by Digital Bazaar, like a third party that has only the
// credential. Prints the result as JSON, or fails.

import assert from "node:assert/strict";

import { decodeList } from "@digitalbazaar/vc-bitstring-status-list";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";

const claims = await verify(process.argv[2]);
const entry = claims.credentialStatus;
const list = await verify(await fetchText(entry.statusListCredential));
const { encodedList } = list.credentialSubject;
const bits = await decodeList({ encodedList });
assert.equal(bits.length, 131072);
const revoked = bits.getStatus(Number(entry.statusListIndex));
console.log(JSON.stringify({ claims, revoked }));

// Returns the claims of a token after verification with the issuer's key.
async function verify(token) {
  const { kid } = decodeProtectedHeader(token);
  const [did] = kid.split("#");
  const document = JSON.parse(await fetchText(documentUrl(did)));
  assert.equal(document.id, did);
  assert.ok(document.assertionMethod.includes(kid));
  const method = document.verificationMethod.find(({ id }) => id === kid);
  const key = await importJWK(method.publicKeyJwk, "EdDSA");
  const expected = { issuer: did, typ: "vc+jwt", algorithms: ["EdDSA"], clockTolerance: 1 };
  return (await jwtVerify(token, key, expected)).payload;
}

// Resolves did:web. Loopback addresses are loaded without TLS.
function documentUrl(did) {
  const [, method, host, ...path] = did.split(":");
  assert.equal(method, "web");
  const authority = decodeURIComponent(host);
  const scheme = authority.startsWith("127.0.0.1") ? "http" : "https";
  const folder = path.length ? path.join("/") : ".well-known";
  return `${scheme}://${authority}/${folder}/did.json`;
}

async function fetchText(url) {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  return answer.text();
}
