"""Counts secrets in the memory of a process. The arguments are the process, a key-encryption key in base64, an API key,
its account, its wrapped root, an issuer key and its wrapped private key, both wrapped values in hexadecimal digits.

Prints as JSON how often each of the three secrets is found. Prints null without the right to read the memory, which
root has.
"""

import base64
import json
import sys
from pathlib import Path

from wrapped import id_bytes, unwrap


def main():
    process, kek, key, account, root, issuer, secret = sys.argv[1:]
    keks = {1: base64.b64decode(kek)}
    try:
        memory = read(process)
    except PermissionError:
        print("null")
        return
    row = id_bytes(key) + id_bytes(account)
    print(json.dumps({
        "kek": memory.count(keks[1]),
        "root": memory.count(unwrap(keks, "api_keys", row, "root", bytes.fromhex(root))),
        "issuer": memory.count(unwrap(keks, "issuer_keys", id_bytes(issuer), "secret", bytes.fromhex(secret))),
    }))


def read(process):
    """Returns all memory that the process can write to."""
    parts = []
    with open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(address, 16) for address in span.split("-"))
            try:
                memory.seek(start)
                parts.append(memory.read(end - start))
            except (OSError, OverflowError):
                # The process has returned the memory in the meantime, or it belongs to the kernel.
                continue
    return b"\0".join(parts)


if __name__ == "__main__":
    main()
