// Verifies a credential with jose or did-jwt, and its entry of the status list with the library by Digital Bazaar, like
// a third party that has only the credential. Arguments: the library and the credential. Prints the result as JSON, or
// fails.

import assert from "node:assert/strict";

import { decodeList } from "@digitalbazaar/vc-bitstring-status-list";
import { verifyJWT } from "did-jwt";
import { decodeProtectedHeader, importJWK, jwtVerify } from "jose";

const [library, credential] = process.argv.slice(2);
const verify = { jose: verifyWithJose, "did-jwt": verifyWithDidJwt }[library];
const claims = await verify(credential);
const entry = claims.credentialStatus;
const list = await verify(await fetchText(entry.statusListCredential));
const { encodedList } = list.credentialSubject;
const bits = await decodeList({ encodedList });
assert.equal(bits.length, 131072);
const revoked = bits.getStatus(Number(entry.statusListIndex));
console.log(JSON.stringify({ claims, revoked }));

// Returns the claims of a token after verification with the issuer's key.
async function verifyWithJose(token) {
  const { kid } = decodeProtectedHeader(token);
  const [did] = kid.split("#");
  const document = await resolve(did);
  assert.ok(document.assertionMethod.includes(kid));
  const method = document.verificationMethod.find(({ id }) => id === kid);
  const key = await importJWK(method.publicKeyJwk, "EdDSA");
  const expected = { issuer: did, typ: "vc+jwt", algorithms: ["EdDSA"], clockTolerance: 1 };
  return (await jwtVerify(token, key, expected)).payload;
}

// did-jwt resolves the issuer itself, and tries each key of `assertionMethod` whose form it knows.
async function verifyWithDidJwt(token) {
  const resolver = {
    resolve: async (did) => ({
      didDocument: await resolve(did),
      didResolutionMetadata: {},
      didDocumentMetadata: {},
    }),
  };
  const { payload, verified, signer } = await verifyJWT(token, { resolver, proofPurpose: "assertionMethod" });
  assert.ok(verified);
  assert.equal(signer.controller, payload.iss);
  return payload;
}

// Resolves did:web. Loopback addresses are loaded without TLS.
async function resolve(did) {
  const [, method, host, ...path] = did.split(":");
  assert.equal(method, "web");
  const authority = decodeURIComponent(host);
  const scheme = authority.startsWith("127.0.0.1") ? "http" : "https";
  const folder = path.length ? path.join("/") : ".well-known";
  const document = JSON.parse(await fetchText(`${scheme}://${authority}/${folder}/did.json`));
  assert.equal(document.id, did);
  return document;
}

async function fetchText(url) {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  return answer.text();
}
