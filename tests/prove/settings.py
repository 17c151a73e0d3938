"""The settings of a run: limits, times and the database. All of them are small, so that a run reaches them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings of a run. Times are in seconds."""

    seed: int
    database: str
    seconds: float
    binary: str
    retention: float
    lie: str | None = None
    has_faults: bool = True
    modes_left_out: tuple = ()
    callers: int = 6
    webhook_timeout: float = 2.0
    webhook_lease: float = 12.0
    secret_overlap: float = 4.0
    session_ttl: float = 60.0
    # The pauses between the attempts of a delivery: seven attempts in about five seconds.
    pauses: tuple = (0.1, 0.2, 0.4, 0.8, 1.6, 1.6)

    @property
    def attempts_max(self):
        """Returns the number of attempts after which a delivery is exhausted."""
        return len(self.pauses) + 1

    @property
    def nodes(self):
        """Returns the number of nodes: SQLite has one."""
        return 2 if self.database == "postgres" else 1

    def flags(self):
        """Returns the arguments of `sealpost serve`, except the database and the folder."""
        return [
            "--dev",
            "--listen=127.0.0.1:0",
            "--ops-listen=127.0.0.1:0",
            "--events=v1.1",
            f"--retention={millis(self.retention)}",
            f"--webhook-timeout={millis(self.webhook_timeout)}",
            f"--webhook-lease={millis(self.webhook_lease)}",
            f"--webhook-retry-schedule={','.join(millis(pause) for pause in self.pauses)}",
            "--webhook-probe-pause-max=1s",
            f"--webhook-secret-overlap={millis(self.secret_overlap)}",
            f"--session-ttl={millis(self.session_ttl)}",
            "--activations-per-minute=0",
            "--logins-per-minute=0",
            "--account-changes-per-minute=0",
            "--webhook-tests-per-minute=0",
            "--dashboard-per-minute=0",
        ]


def millis(seconds):
    """Formats a time for the command line."""
    return f"{round(seconds * 1000)}ms"
