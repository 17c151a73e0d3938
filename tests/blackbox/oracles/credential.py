"""Verifies a credential with PyJWT, joserfc or openbadgeslib, like a third party that has only the credential.

Arguments: the library and the credential. Loads the issuer's key through its did:web. Loads the status list, verifies
it in the same way, and reads the entry. Prints the result as JSON, or fails.
"""

import base64
import gzip
import json
import sys
import urllib.request
from urllib.parse import unquote

import joserfc.jwk
import joserfc.jwt
import jwt
from openbadgeslib.ob3.status import check_credential_status
from openbadgeslib.ob3.verifier import OB3VerificationError, OB3Verifier


def main():
    check = {"pyjwt": check_with_pyjwt, "joserfc": check_with_joserfc, "openbadgeslib": check_with_openbadgeslib}
    claims, revoked = check[sys.argv[1]](sys.argv[2])
    print(json.dumps({"claims": claims, "revoked": revoked}))


def check_with_pyjwt(credential):
    return check_status(verify_with_pyjwt(credential), verify_with_pyjwt)


def check_with_joserfc(credential):
    return check_status(verify_with_joserfc(credential), verify_with_joserfc)


def check_with_openbadgeslib(credential):
    """Returns the claims of an Open Badge and its status. The library resolves the issuer and the status itself."""
    _, did, _ = resolve(credential)
    verifier = OB3Verifier.for_issuer_did(did, download=fetch_secure)
    badge = verifier.verify(credential)
    claims = jwt.decode(credential, options={"verify_signature": False})
    assert badge.recipient_id == claims["credentialSubject"]["id"]
    try:
        # `OB3Verifier.check_status` expects the key of the badge, which a later list need not have.
        check_credential_status(badge, download=fetch_secure, verify_list=True)
        return claims, False
    except OB3VerificationError as error:
        assert "'revocation' is set" in str(error), error
        return claims, True


def check_status(claims, verify):
    """Returns the claims and the entry of the status list, which `verify` verifies."""
    entry = claims["credentialStatus"]
    listed = verify(fetch(entry["statusListCredential"]).decode())
    assert listed["id"] == entry["statusListCredential"]
    assert listed["credentialSubject"]["statusPurpose"] == entry["statusPurpose"] == "revocation"
    encoded = listed["credentialSubject"]["encodedList"]
    assert encoded[0] == "u"
    bits = gzip.decompress(base64.urlsafe_b64decode(encoded[1:] + "=" * (-len(encoded[1:]) % 4)))
    assert len(bits) == 131_072 // 8
    index = int(entry["statusListIndex"])
    return claims, bool(bits[index // 8] >> (7 - index % 8) & 1)


def verify_with_pyjwt(token):
    """Returns the claims of a token after verification with the issuer's key."""
    kid, did, document = resolve(token)
    key = jwt.PyJWK(method_of(document, kid)["publicKeyJwk"], algorithm="EdDSA")
    options = {"require": ["iss", "exp"]}
    claims = jwt.decode(token, key, algorithms=["EdDSA"], issuer=did, options=options, leeway=1)
    return of_issuer(claims, did)


def verify_with_joserfc(token):
    """Returns the claims of a token. joserfc finds the key by its `kid` in the set of keys."""
    kid, did, document = resolve(token)
    keys = [{**method["publicKeyJwk"], "kid": method["id"]}
            for method in document["verificationMethod"] if "publicKeyJwk" in method]
    decoded = joserfc.jwt.decode(token, joserfc.jwk.KeySet.import_key_set({"keys": keys}), algorithms=["EdDSA"])
    assert decoded.header["kid"] == kid
    joserfc.jwt.JWTClaimsRegistry(iss={"essential": True, "value": did}, exp={"essential": True}, leeway=1).validate(
        decoded.claims)
    return of_issuer(decoded.claims, did)


def of_issuer(claims, did):
    issuer = claims["issuer"]
    assert did == (issuer if isinstance(issuer, str) else issuer["id"])
    return claims


def resolve(token):
    """Returns the id of the token's key, its DID, and the DID document."""
    header = jwt.get_unverified_header(token)
    assert header["typ"] == "vc+jwt", header
    kid = header["kid"]
    did = kid.split("#")[0]
    document = json.loads(fetch(document_url(did)))
    assert document["id"] == did and kid in document["assertionMethod"]
    return kid, did, document


def method_of(document, kid):
    [method] = [method for method in document["verificationMethod"] if method["id"] == kid]
    assert method["type"] == "JsonWebKey" and method["controller"] == document["id"]
    return method


def document_url(did):
    """Resolves did:web. Loopback addresses are loaded without TLS."""
    scheme, method, host, *path = did.split(":")
    assert (scheme, method) == ("did", "web")
    address = "/".join([unquote(host), *path, *([] if path else [".well-known"]), "did.json"])
    return ("http://" if address.startswith("127.0.0.1") else "https://") + address


def fetch_secure(url):
    """Loads a URL for openbadgeslib, which asks for did:web documents over HTTPS. Loopback is loaded without TLS."""
    return fetch(url.replace("https://127.0.0.1", "http://127.0.0.1", 1))


def fetch(url):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=20) as response:
        return response.read()


main()
