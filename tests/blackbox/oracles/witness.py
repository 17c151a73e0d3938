"""Runs a witness of other authors (aics-witness). Arguments: a folder, and the public key of the log. Prints the key and
the URL of the witness."""

import sys
from pathlib import Path

from aics_tlog import parse_vkey
from aics_witness import LogConfig, Witness, WitnessStore, load_or_create_key, make_server

folder, log = Path(sys.argv[1]), parse_vkey(sys.argv[2])
key, *_ = load_or_create_key(folder / "other.key", create=True)
with WitnessStore(folder / "other.db", create=True) as store:
    logs = [LogConfig(origin=log.name, vkeys=(log,))]
    witness = Witness("other.example.org", key, store, logs)
    server = make_server(witness)
    print("witness", witness.vkey_text, flush=True)
    print("listening at", server.url, flush=True)
    server.serve_forever()
