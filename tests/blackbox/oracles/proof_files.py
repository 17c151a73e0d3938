"""Verifies proof files with aics-tlog. As a program, it takes a JSON file with pairs of a log key and a proof, and prints
whether each is valid."""

import base64
import hashlib
import json
import sys
from pathlib import Path

from aics_tlog import parse_checkpoint, parse_note, parse_vkey, verify_checkpoint, verify_leaf_inclusion


def decoded(text):
    """Decodes base64, and refuses forms that another encoder would not write."""
    data = base64.b64decode(text, validate=True)
    assert base64.b64encode(data).decode() == text, text
    return data


def checked(note_text, key):
    """Returns the checkpoint of a note that the log with this key has signed."""
    result = verify_checkpoint(parse_note(note_text), key, expected_origin=key.name)
    assert result.log_ok and result.error is None, result
    return parse_checkpoint(parse_note(note_text).text)


def check_envelope(statement):
    """Verifies that the statement includes the envelope below it. Returns the statement alone."""
    statement, envelope = statement.split("\n\n")
    envelope, place = envelope.split("\nindex ")
    index, *proof = place.removesuffix("\n").split("\n")
    proof = [decoded(line) for line in proof]
    count, root = statement.split("\n")
    count, root = int(count.removeprefix("envelopes ")), decoded(root.removeprefix("root "))
    assert verify_leaf_inclusion(f"{envelope}\n".encode(), int(index), count, proof, root), envelope
    return f"{statement}\n"


def check_proof(text, key):
    """Verifies a proof file. Computes the entry from the statement as docs/transparency.md describes."""
    head, note = text.split("\n\n", 1)
    first, extra, index, *hashes = head.split("\n")
    assert first == "c2sp.org/tlog-proof@v1", first
    kind, time, salt, statement = decoded(extra.removeprefix("extra ")).decode().split("\n", 3)
    if kind == "kind envelopes":
        statement = check_envelope(statement)
    salt = decoded(salt.removeprefix("salt "))
    commitment = hashlib.sha256(b"sealpost/log/v1/commitment\n" + salt + statement.encode()).digest()
    entry = f"sealpost/log/v1\n{kind.removeprefix('kind ')}\n{time.removeprefix('time ')}\n" \
            f"{base64.b64encode(commitment).decode()}\n"
    checkpoint = checked(note, key)
    proof = [decoded(line) for line in hashes]
    index = int(index.removeprefix("index "))
    assert verify_leaf_inclusion(entry.encode(), index, checkpoint.size, proof, checkpoint.root), text


def is_valid(key, proof):
    try:
        check_proof(proof, parse_vkey(key))
    except (AssertionError, ValueError):
        return False
    return True


if __name__ == "__main__":
    pairs = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps([is_valid(key, proof) for key, proof in pairs]))
