// Expands a DID document as JSON-LD in the safe mode, which fails for each member that no context defines. Argument: the
// document. Prints the expanded document.

import assert from "node:assert/strict";

import multikey from "@digitalbazaar/multikey-context";
import did from "did-context";
import jsonld from "jsonld";

const SECURITY = "https://w3id.org/security#";

// The published context, which no package contains.
const JWK = {
  "@context": {
    id: "@id",
    type: "@type",
    "@protected": true,
    JsonWebKey: {
      "@id": `${SECURITY}JsonWebKey`,
      "@context": {
        "@protected": true,
        id: "@id",
        type: "@type",
        controller: { "@id": `${SECURITY}controller`, "@type": "@id" },
        publicKeyJwk: { "@id": `${SECURITY}publicKeyJwk`, "@type": "@json" },
      },
    },
  },
};
const contexts = new Map([...did.contexts, ...multikey.contexts, ["https://w3id.org/security/jwk/v1", JWK]]);

const documentLoader = async (url) => {
  assert.ok(contexts.has(url), `unknown context ${url}`);
  return { contextUrl: null, document: contexts.get(url), documentUrl: url };
};
const expanded = await jsonld.expand(JSON.parse(process.argv[2]), { documentLoader, safe: true });
console.log(JSON.stringify(expanded));
