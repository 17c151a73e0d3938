"""Verifies cosignatures of witnesses with proofbundle, whose ML-DSA-44 is that of OpenSSL. Argument: a JSON file with pairs of
a witness key and a cosigned note. Prints the time of each cosignature, null if it is invalid, and a note that proofbundle
has cosigned with a new ML-DSA-44 key."""

import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey
from proofbundle.checkpoint import cosign_checkpoint_mldsa, cosign_vkey_mldsa, verify_cosignature
from proofbundle.errors import BundleFormatError

NAME = "other.example.org"


def time_of(key, note):
    try:
        result = verify_cosignature(note, key)
    except BundleFormatError:
        return None
    return result["timestamp"] if result["ok"] else None


pairs = json.loads(Path(sys.argv[1]).read_text())
secret = MLDSA44PrivateKey.generate()
key = cosign_vkey_mldsa(NAME, secret.public_key().public_bytes_raw())
note = cosign_checkpoint_mldsa(pairs[0][1], secret, NAME, 1_700_000_000)
print(json.dumps({"times": [time_of(*pair) for pair in pairs], "key": key, "note": note}))
