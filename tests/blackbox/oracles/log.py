"""Verifies the transparency log and proof files with aics-tlog. Arguments: the URL of the log, its key, and paths of proof
files. Prints the entries of the log."""

import json
import sys
import urllib.request
from pathlib import Path

from aics_tlog import (HttpTileReader, consistency_proof_from_tiles, inclusion_proof_from_tiles, parse_vkey, read_entry,
                       tree_root_from_tiles, verify_consistency, verify_leaf_inclusion)
from proof_files import check_proof, checked

url, key = sys.argv[1], parse_vkey(sys.argv[2])
with urllib.request.urlopen(f"{url}/checkpoint") as response:
    checkpoint = checked(response.read().decode(), key)
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
    check_proof(Path(path).read_text(), key)
print(json.dumps([entry.decode() for entry in entries]))
