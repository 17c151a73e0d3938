"""Verifies COSE receipts with cwt. Takes a JSON file with pairs of a log key and a receipt in base64, and prints whether
each is valid."""

import base64
import hashlib
import json
import sys
from pathlib import Path

import cbor2
from aics_tlog import parse_vkey
from cwt import COSE, COSEKey
from proof_files import check_envelope

VDS, VDP, RFC9162_SHA256, INCLUSION_PROOFS, EDDSA = 395, 396, 1, -1, -8


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def included_root(leaf, index, size, path):
    """Computes the root of a tree from an inclusion proof (RFC 9162, section 2.1.3.2)."""
    assert index < size, index
    at, last, root = index, size - 1, leaf
    for sibling in path:
        assert last > 0, "the path is too long"
        if at % 2 == 1 or at == last:
            root = node(sibling, root)
            while at % 2 == 0 and at > 0:
                at, last = at // 2, last // 2
        else:
            root = node(root, sibling)
        at, last = at // 2, last // 2
    assert last == 0, "the path is too short"
    return root


def entry_of(extra):
    """Computes the entry of a statement as docs/transparency.md describes."""
    kind, time, salt, statement = extra.decode().split("\n", 3)
    if kind == "kind envelopes":
        statement = check_envelope(statement)
    salt = base64.b64decode(salt.removeprefix("salt "), validate=True)
    commitment = hashlib.sha256(b"sealpost/log/v1/commitment\n" + salt + statement.encode()).digest()
    return f"sealpost/log/v1\n{kind.removeprefix('kind ')}\n{time.removeprefix('time ')}\n" \
           f"{base64.b64encode(commitment).decode()}\n".encode()


def check_receipt(receipt, key):
    message = cbor2.loads(receipt)
    assert message.tag == 18 and cbor2.dumps(message) == receipt, "another spelling"
    protected, unprotected, payload, _ = message.value
    protected = cbor2.loads(protected)
    assert payload is None and protected[1] == EDDSA and protected[VDS] == RFC9162_SHA256, protected
    [proof] = unprotected[VDP][INCLUSION_PROOFS]
    size, index, path = cbor2.loads(proof)
    assert cbor2.dumps([size, index, path]) == proof, "another spelling"
    leaf = hashlib.sha256(b"\0" + entry_of(unprotected["sealpost.statement"])).digest()
    root = included_root(leaf, index, size, path)
    origin, signed_size, *_ = protected["sealpost.checkpoint"].split("\n")
    assert (origin, int(signed_size)) == (key.name, size), origin
    key = COSEKey.new({1: 1, -1: 6, 3: EDDSA, -2: key.public_key, 2: protected[4], 4: [2]})
    COSE.new().decode(receipt, key, detached_payload=root)


def is_valid(key, receipt):
    try:
        check_receipt(base64.b64decode(receipt), parse_vkey(key))
    except Exception:  # A changed byte makes cbor2 and cwt raise errors of many types.
        return False
    return True


if __name__ == "__main__":
    pairs = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps([is_valid(key, receipt) for key, receipt in pairs]))
