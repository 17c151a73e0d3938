"""The checks of the key provider pkcs11, against SoftHSM, a module in software. The argument is the binary."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from servers import Sealpost, call

LIBRARY = "/usr/lib/softhsm/libsofthsm2.so"
PIN = "482913"


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(sys.argv[1], Path(folder))


def check(binary, folder):
    (folder / "tokens").mkdir()
    configuration = folder / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {folder}/tokens\nlog.level = ERROR\n")
    os.environ["SOFTHSM2_CONF"] = str(configuration)
    subprocess.run(["softhsm2-util", "--init-token", "--free", "--label", "sealpost", "--pin", PIN, "--so-pin", PIN],
                   check=True, stdout=subprocess.DEVNULL)
    # A program of OpenSC makes the keys, as an operator would. They cannot leave the module.
    for label in ("first", "second"):
        subprocess.run(["pkcs11-tool", "--module", LIBRARY, "--token-label", "sealpost", "--login", "--pin", PIN,
                        "--keygen", "--key-type", "AES:32", "--label", label, "--sensitive"],
                       check=True, capture_output=True)
    pin = folder / "pin"
    pin.write_text(f"{PIN}\n")
    first, second, missing = (f"pkcs11:{LIBRARY}?token=sealpost&key={label}&pin_file={pin}"
                              for label in ("first", "second", "third"))
    run = Sealpost(binary, folder / "data")

    with run.serve(first) as url:
        alice = call(url, "/v1/did/activate", {"label": "alice"})
        secret = {name: alice[name] for name in ("account_id", "login_secret")}
        token = call(url, "/v1/auth/login", secret)["session_token"]
        sent = call(url, "/v1/channel/send", {"to": alice["api_key_id"], "message": "hello"}, token, alice)
        assert run.json("admin", "kek", "rotate", "--kek-provider", first)["version"] == 2
    copied = run.json("admin", "kek", "move", "--to", second, "--kek-provider", first)
    assert copied["versions"] == [1, 2] and copied["to"] == "pkcs11:sealpost/second", copied
    run.json("admin", "kek", "move", "--to", second, "--finish")
    with run.serve(second) as url:
        opened = call(url, "/v1/channel/open", {"envelope_id": sent["envelope_id"]}, token, alice)
        assert opened["message"] == "hello", opened

    assert "the key provider refuses" in run.refused(missing), "a key that the token does not have"
    pin.write_text("000000\n")
    assert "PinIncorrect" in run.refused(second), "a wrong PIN"
    pin.unlink()
    assert "the key provider cannot be used" in run.refused(second), "a missing file"
    print("pkcs11: all checks passed")


if __name__ == "__main__":
    main()
