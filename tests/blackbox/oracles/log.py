"""Verifies the transparency log with aics-tlog. Arguments: the URL of the log, its key, and optionally a proof file and
its entry. Prints the size and the entries."""

import base64
import json
import sys
import urllib.request

from aics_tlog import (HttpTileReader, consistency_proof_from_tiles, inclusion_proof_from_tiles, leaf_hash,
                       parse_checkpoint, parse_note, parse_vkey, read_entry, tree_root_from_tiles, verify_checkpoint,
                       verify_consistency, verify_leaf_inclusion)

url, key = sys.argv[1], parse_vkey(sys.argv[2])


def checked(note_text):
    """Returns the checkpoint of a note that the log has signed."""
    result = verify_checkpoint(parse_note(note_text), key, expected_origin=key.name)
    assert result.log_ok and result.error is None, result
    return parse_checkpoint(parse_note(note_text).text)


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
print(json.dumps({"size": checkpoint.size, "entries": [entry.decode() for entry in entries]}))
