"""The checks of the key provider aws-kms. The argument is the binary."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import boto3

from servers import Sealpost, call

REGION = "eu-west-1"
# The simulation verifies no signature of the first actions, which create the caller.
OPEN_ACTIONS = 5


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder, Moto() as moto:
        check(binary, Path(folder), moto)


def check(binary, folder, moto):
    kms, iam = moto.client("kms"), moto.client("iam")
    first, second = (kms.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
    iam.create_user(UserName="sealpost")
    iam.put_user_policy(UserName="sealpost", PolicyName="keys", PolicyDocument=policy("kms:*", "iam:*"))
    caller = iam.create_access_key(UserName="sealpost")["AccessKey"]
    secrets = caller["AccessKeyId"], caller["SecretAccessKey"]
    credentials = folder / "credentials"
    write_credentials(credentials, *secrets)
    names = [f"aws-kms:{arn}?credentials_file={credentials}&endpoint={moto.url}" for arn in (first, second)]
    run = Sealpost(binary, folder / "data")

    with run.serve(names[0]) as url:
        alice = call(url, "/v1/did/activate", {"label": "alice"})
        secret = {name: alice[name] for name in ("account_id", "login_secret")}
        token = call(url, "/v1/auth/login", secret)["session_token"]
        sent = call(url, "/v1/channel/send", {"to": alice["api_key_id"], "message": "hello"}, token, alice)
        assert run.json("admin", "kek", "rotate", "--kek-provider", names[0])["version"] == 2
    with run.serve(names[0]) as url:
        opened = call(url, "/v1/channel/open", {"envelope_id": sent["envelope_id"]}, token, alice)
        assert opened["message"] == "hello", opened
        copied = run.json("admin", "kek", "move", "--to", names[1], "--kek-provider", names[0])
        assert copied["versions"] == [1, 2] and copied["to"] == f"aws-kms:{second}", copied
        run.json("admin", "kek", "move", "--to", names[1], "--finish")

    write_credentials(credentials, secrets[0], "x" * 40)
    assert "the key provider refuses" in run.refused(names[1]), "a wrong signature"
    write_credentials(credentials, *secrets)
    moto.client("iam", secrets).put_user_policy(
        UserName="sealpost", PolicyName="keys", PolicyDocument=policy("iam:*"))
    assert "the key provider refuses" in run.refused(names[1]), "a caller without permission"
    moto.stop()
    assert "the key provider cannot be used" in run.refused(names[1]), "a service that does not respond"
    print("aws-kms: all checks passed")


def policy(*actions):
    statement = [{"Effect": "Allow", "Action": list(actions), "Resource": "*"}]
    return json.dumps({"Version": "2012-10-17", "Statement": statement})


def write_credentials(file, key_id, secret):
    file.write_text(f"[default]\naws_access_key_id = {key_id}\naws_secret_access_key = {secret}\n")
    file.chmod(0o600)


class Moto:
    """A running simulation."""

    def __enter__(self):
        environment = os.environ | {"INITIAL_NO_AUTH_ACTION_COUNT": str(OPEN_ACTIONS), "MOTO_PORT": "0"}
        # The program prints its URL, with the free port that it has chosen, to standard error.
        self.process = subprocess.Popen([Path(sys.executable).parent / "moto_server", "-H", "127.0.0.1", "-p", "0"],
                                        env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                self.url = found[0]
                return self
        sys.exit("tests/kms: moto_server did not start")

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.kill()
        self.process.wait()

    def client(self, service, secrets=("none", "none")):
        return boto3.client(service, region_name=REGION, endpoint_url=self.url,
                            aws_access_key_id=secrets[0], aws_secret_access_key=secrets[1])


if __name__ == "__main__":
    main()
