"""Verifies the transparency log and proof files with aics-tlog. Arguments: the URL of the log, its key, and paths of proof
files. Prints the entries of the log."""

import base64
import hashlib
import json
import sys
import urllib.request
from pathlib import Path

from aics_tlog import (HttpTileReader, consistency_proof_from_tiles, inclusion_proof_from_tiles,
                       parse_checkpoint, parse_note, parse_vkey, read_entry, tree_root_from_tiles, verify_checkpoint,
                       verify_consistency, verify_leaf_inclusion)

url, key = sys.argv[1], parse_vkey(sys.argv[2])


def checked(note_text):
    """Returns the checkpoint of a note that the log has signed."""
    result = verify_checkpoint(parse_note(note_text), key, expected_origin=key.name)
    assert result.log_ok and result.error is None, result
    return parse_checkpoint(parse_note(note_text).text)


def check_proof(text):
    """Verifies a proof file. Computes the entry from the statement as docs/transparency.md describes."""
    head, note = text.split("\n\n", 1)
    first, extra, index, *hashes = head.split("\n")
    assert first == "c2sp.org/tlog-proof@v1", first
    kind, time, salt, statement = base64.b64decode(extra.removeprefix("extra ")).decode().split("\n", 3)
    salt = base64.b64decode(salt.removeprefix("salt "))
    commitment = hashlib.sha256(b"sealpost/log/v1/commitment\n" + salt + statement.encode()).digest()
    entry = f"sealpost/log/v1\n{kind.removeprefix('kind ')}\n{time.removeprefix('time ')}\n" \
            f"{base64.b64encode(commitment).decode()}\n"
    checkpoint = checked(note)
    proof = [base64.b64decode(line, validate=True) for line in hashes]
    index = int(index.removeprefix("index "))
    assert verify_leaf_inclusion(entry.encode(), index, checkpoint.size, proof, checkpoint.root), text


with urllib.request.urlopen(f"{url}/checkpoint") as response:
    checkpoint = checked(response.read().decode())
reader = HttpTileReader([url])
root = tree_root_from_tiles(reader, checkpoint.size)
assert root == checkpoint.root, (root, checkpoint)
entries = [read_entry(reader, number, checkpoint.size) for number in range(checkpoint.size)]
for number, entry in enumerate(entries):
    proof = inclusion_proof_from_tiles(reader, number, checkpoint.size)
    assert verify_leaf_inclusion(entry, number, checkpoint.size, proof, root), number
    old_root = tree_root_from_tiles(reader, number, checkpoint.size)
    proof = consistency_proof_from_tiles(reader, number, checkpoint.size)
    assert verify_consistency(number, checkpoint.size, old_root, root, proof), number
for path in sys.argv[3:]:
    check_proof(Path(path).read_text())
print(json.dumps([entry.decode() for entry in entries]))
