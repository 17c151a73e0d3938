"""A service for tests: the `sealpost` binary with an empty database in a temporary folder.

`sealpost.pytest_plugin` has a fixture for pytest.
"""

from __future__ import annotations

import os
import subprocess
from tempfile import TemporaryDirectory
from types import TracebackType

__all__ = ["LocalService"]

# A free port, webhooks on this machine, and no limits by client address.
_ARGUMENTS = (
    *("serve", "--dev", "--listen", "127.0.0.1:0", "--ops-listen", "off", "--log", "warn"),
    *("--activations-per-minute", "0", "--logins-per-minute", "0"),
    *("--account-changes-per-minute", "0", "--webhook-tests-per-minute", "0"),
)
_STOP_WITHIN_S = 30


class LocalService:
    """A service that runs inside a `with` block.

    The binary is `binary`, the variable `SEALPOST_BINARY`, or the first `sealpost` in the PATH.
    """

    def __init__(self, binary: str | None = None) -> None:
        self._folder = TemporaryDirectory(prefix="sealpost-test.")
        if binary is None:
            binary = os.environ.get("SEALPOST_BINARY") or "sealpost"
        # Settings of the user must not change the service.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SEALPOST_")}
        command = [binary, *_ARGUMENTS, "--data-dir", f"{self._folder.name}/data"]
        try:
            self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            self._folder.cleanup()
            advice = "set SEALPOST_BINARY to the path of the sealpost binary"
            raise RuntimeError(f"{binary} cannot be started: {advice}") from error
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip().removeprefix("sealpost listening on ")
        if not self.url:
            self.stop()
            raise RuntimeError(f"{binary} did not start: see its message on standard error")

    def __enter__(self) -> LocalService:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stops the service, and deletes its data."""
        self._process.terminate()
        self._process.communicate(timeout=_STOP_WITHIN_S)
        self._folder.cleanup()
