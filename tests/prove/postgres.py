"""A private PostgreSQL server in a temporary folder, which faults may kill and start again."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path


class Postgres:
    """A PostgreSQL server that listens on a Unix socket in its folder only."""

    def __init__(self, folder):
        self.programs = find_programs()
        self.folder = Path(folder) / "postgres"
        self.folder.mkdir()
        # PostgreSQL refuses to run as root.
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if self.user:
            entry = pwd.getpwnam("postgres")
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
            Path(folder).chmod(0o755)
        data, log = self.folder / "data", self.folder / "initdb.log"
        with open(log, "wb") as output:
            subprocess.run(
                [self.programs / "initdb", f"--pgdata={data}", "--username=postgres", "--auth=trust",
                 "--encoding=UTF8", "--locale=C", "--no-sync"],
                check=True, stdout=output, stderr=output, cwd="/", **self.user)
        with open(data / "postgresql.conf", "a", encoding="utf-8") as settings:
            # A killed server loses no page that the system has, so the run needs no sync of the disk.
            settings.write("listen_addresses = ''\nmax_connections = 100\nfsync = off\n"
                           f"unix_socket_directories = '{self.folder}'\n")
        self.process = None

    @property
    def url(self):
        """Returns the URL for `--database-url`."""
        return f"postgres://postgres@{str(self.folder).replace('/', '%2F')}/postgres"

    def start(self):
        """Starts the server, and waits until it accepts connections."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                # After a kill, the first start can fail until all backends of the old server have ended.
                self.process = self._spawn()
            ready = subprocess.run(
                [self.programs / "pg_isready", "--quiet", f"--host={self.folder}", "--username=postgres"],
                check=False, cwd="/")
            if ready.returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL did not start within 60 s: read {self.folder / 'server.log'}")

    def _spawn(self):
        with open(self.folder / "server.log", "ab") as log:
            return subprocess.Popen([self.programs / "postgres", "-D", str(self.folder / "data")],
                                    stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/", **self.user)

    def kill(self):
        """Kills the main process with SIGKILL. Its backends end by themselves."""
        self._end(signal.SIGKILL)

    def stop_immediately(self):
        """Stops the server without a checkpoint, as `pg_ctl stop --mode=immediate`."""
        self._end(signal.SIGQUIT)

    def close(self):
        """Stops the server at the end of the run."""
        if self.process is not None:
            self._end(signal.SIGINT)

    def _end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
            # A fault may have frozen the process.
            self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def find_programs():
    """Returns the folder of PostgreSQL's programs. Debian keeps them outside the PATH."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda it: float(it.parent.name))
    candidates = ([Path(found).resolve().parent] if found else []) + folders[::-1]
    for folder in candidates:
        if (folder / "postgres").exists():
            return folder
    raise RuntimeError("cannot find initdb of PostgreSQL: install the PostgreSQL server")
