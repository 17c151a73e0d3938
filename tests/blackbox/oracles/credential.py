"""Verifies a credential with PyJWT, like a third party that has only the credential.

Loads the issuer's key through its did:web. Loads the status list, verifies it in the same way, and reads the entry.
Prints the result as JSON, or fails.
"""

import base64
import gzip
import json
import sys
import urllib.request
from urllib.parse import unquote

import jwt


def main():
    claims = verify(sys.argv[1])
    entry = claims["credentialStatus"]
    listed = verify(fetch(entry["statusListCredential"]).decode())
    assert listed["id"] == entry["statusListCredential"]
    assert listed["credentialSubject"]["statusPurpose"] == entry["statusPurpose"] == "revocation"
    encoded = listed["credentialSubject"]["encodedList"]
    assert encoded[0] == "u"
    bits = gzip.decompress(base64.urlsafe_b64decode(encoded[1:] + "=" * (-len(encoded[1:]) % 4)))
    assert len(bits) == 131_072 // 8
    index = int(entry["statusListIndex"])
    revoked = bool(bits[index // 8] >> (7 - index % 8) & 1)
    print(json.dumps({"claims": claims, "revoked": revoked}))


def verify(token):
    """Returns the claims of a token after verification with the issuer's key."""
    header = jwt.get_unverified_header(token)
    assert header["typ"] == "vc+jwt", header
    did = header["kid"].split("#")[0]
    claims = jwt.decode(
        token, key_of(header["kid"], did), algorithms=["EdDSA"], issuer=did,
        options={"require": ["iss", "exp"]}, leeway=1,
    )
    issuer = claims["issuer"]
    assert did == (issuer if isinstance(issuer, str) else issuer["id"])
    return claims


def key_of(kid, did):
    document = json.loads(fetch(document_url(did)))
    assert document["id"] == did and kid in document["assertionMethod"]
    [method] = [method for method in document["verificationMethod"] if method["id"] == kid]
    assert method["type"] == "JsonWebKey" and method["controller"] == did
    return jwt.PyJWK(method["publicKeyJwk"], algorithm="EdDSA")


def document_url(did):
    """Resolves did:web. Loopback addresses are loaded without TLS."""
    scheme, method, host, *path = did.split(":")
    assert (scheme, method) == ("did", "web")
    address = "/".join([unquote(host), *path, *([] if path else [".well-known"]), "did.json"])
    return ("http://" if address.startswith("127.0.0.1") else "https://") + address


def fetch(url):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=20) as response:
        return response.read()


main()
