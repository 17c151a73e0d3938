"""Unwraps the secrets of an SQLite database with its key file, by the page `docs/sealing.md` alone.

Prints as JSON: the DID of each key, the public key of each issuer key, the signing secrets of each webhook, the text of
each mark, and for each envelope whether its sender's signature is valid.
"""

import base64
import json
import sqlite3
import struct
import sys
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def main():
    database, key_file = sys.argv[1:]
    rows = sqlite3.connect(database).execute
    keks = read_keks(key_file)
    secrets = {}
    for webhook, secret, retiring in rows("SELECT id, secret, retiring FROM webhooks"):
        wrapped = [secret, *parse_retiring(retiring or b"")]
        secrets[webhook] = [whsec(unwrap(keks, "webhooks", id_bytes(webhook), "secret", it)) for it in wrapped]
    print(json.dumps({
        "dids": {
            key: did(unwrap(keks, "api_keys", id_bytes(key) + id_bytes(account), "root", root))
            for key, account, root in rows("SELECT id, account_id, root FROM api_keys")
        },
        "issuers": {
            issuer: whpk(unwrap(keks, "issuer_keys", id_bytes(issuer), "secret", secret))
            for issuer, secret in rows("SELECT id, secret FROM issuer_keys")
        },
        "marks": {
            version: unwrap(keks, "kek_marks", struct.pack(">I", version), "mark", mark).decode()
            for version, mark in rows("SELECT version, mark FROM kek_marks")
        },
        "secrets": secrets,
        "signed": {envelope[0]: is_signed(envelope, public_keys(rows, keks)) for envelope in rows(
            "SELECT id, sender, recipient, created_at, thread, reply_to, message_type, sealed, signature FROM envelopes"
        )},
    }))


def public_keys(rows, keks):
    roots = rows("SELECT id, account_id, root FROM api_keys")
    return {key: public_key(signing_seed(unwrap(keks, "api_keys", id_bytes(key) + id_bytes(account), "root", root)))
            for key, account, root in roots}


def is_signed(envelope, keys):
    envelope_id, sender, recipient, created_at, thread, reply_to, message_type, sealed, signature = envelope
    associated = lp(id_bytes(envelope_id), id_bytes(sender), id_bytes(recipient), struct.pack(">Q", created_at))
    if thread or reply_to or message_type:
        replied = id_bytes(reply_to) if reply_to else b""
        associated += lp((thread or "").encode(), replied, (message_type or "").encode())
    signed = b"sealpost/v1/envelope-signature" + sha256(sealed).digest() + associated
    try:
        Ed25519PublicKey.from_public_bytes(keys[sender]).verify(signature, signed)
        return True
    except InvalidSignature:
        return False


def read_keks(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip().split(":") for line in file if line.strip()]
    return {int(version): base64.b64decode(key, validate=True) for version, key in lines}


def unwrap(keks, table, row, column, wrapped):
    form, version = struct.unpack_from(">BI", wrapped)
    assert form == 1, form
    nonce, ciphertext = wrapped[5:17], wrapped[17:]
    associated = lp(table.encode(), row, column.encode(), struct.pack(">I", version))
    return AESGCM(keks[version]).decrypt(nonce, ciphertext, associated)


def lp(*parts):
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def id_bytes(text):
    prefix, digits = text.split("_")
    assert prefix and len(digits) == 26, text
    number = 0
    for digit in digits:
        number = number << 5 | CROCKFORD.index(digit)
    return number.to_bytes(16, "big")


def parse_retiring(listed):
    while listed:
        _end, length = struct.unpack_from(">QI", listed)
        yield listed[12:12 + length]
        listed = listed[12 + length:]


def did(root):
    assert len(root) == 32, root
    return "did:key:z" + base58(b"\xed\x01" + public_key(signing_seed(root)))


def signing_seed(root):
    return HKDF(hashes.SHA256(), 32, None, b"sealpost/v1/signing").derive(root)


def whpk(seed):
    return "whpk_" + base64.b64encode(public_key(seed)).decode()


def whsec(secret):
    return "whsec_" + base64.b64encode(secret).decode()


def public_key(seed):
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return text


if __name__ == "__main__":
    main()
