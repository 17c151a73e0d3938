"""Proves the promises of the service with random runs.

`tests/prove/run model` starts servers on a private database, sends random calls of many callers, causes faults, and
records everything. A judge then checks the record against the invariants in `judge`.
"""

import argparse
import collections
import os
import random
import signal
import sys
import time
from dataclasses import replace

from history import History
from judge.judge import judge
from proxy import LIES
from receiver import MODES
from settings import Settings
from stage import Stage

RETENTION_S, RETENTION_OF_SHORT_RUNS_S = 24.0, 10.0

# Number of violations of each invariant that are printed with their evidence.
SHOWN_MAX = 4
LIE_SECONDS = 8
TARGET = os.environ.get("CARGO_TARGET_DIR", "target")


def main():
    """Runs the command line, and returns the exit status."""
    for ending in (signal.SIGHUP, signal.SIGTERM):
        # An exception ends the processes of the run and deletes its folder.
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    arguments = parse()
    if arguments.what == "judge":
        settings = settings_of(arguments, "sqlite" if arguments.database is None else arguments.database)
        return report(settings, History.load(arguments.history))
    if arguments.what == "lies":
        return max([run_lie(name, arguments) for name in LIES])
    databases = [arguments.database] if arguments.database else ["sqlite", "postgres"]
    return max([run(settings_of(arguments, database), arguments) for database in databases])


def run(settings, arguments):
    """Runs the model on one database. Returns the exit status."""
    print(f"== model on {settings.database}: seed {settings.seed}, {settings.seconds:.0f} s of calls", flush=True)
    began = time.monotonic()
    with Stage(settings) as stage:
        stage.run()
    history = stage.history
    if arguments.history:
        history.save(arguments.history)
    status = report(settings, history)
    print(f"-- model on {settings.database}: {time.monotonic() - began:.0f} s", flush=True)
    return status


def run_lie(name, arguments):
    """Runs the model behind a lying proxy. Returns status 1 if the judge does not find the lies."""
    arguments.seconds = arguments.seconds or LIE_SECONDS
    settings = replace(settings_of(arguments, arguments.database or "sqlite"), lie=name, has_faults=False)
    with Stage(settings) as stage:
        stage.run()
    verdict, expected = judge(settings, stage.history), LIES[name].invariants
    found = verdict.names()
    print(f"{name}: expected one of {sorted(expected)}, found {sorted(found)}, seed {settings.seed}", flush=True)
    if not expected & found:
        print_violations(verdict.violations)
    return 0 if expected & found else 1


def report(settings, history):
    """Judges a history and prints the result. Returns the exit status."""
    if history.clock_step() > 0.5:
        print("the clock of this machine was set during the run: run it again")
        return 1
    names = collections.Counter(f"{call.name} {call.outcome}" for call in history.calls)
    faults = collections.Counter(fault.name for fault in history.faults)
    print(f"{len(history.calls)} calls, {len(history.attempts)} attempts, {sum(faults.values())} faults")
    for counts in (names, faults):
        print("  " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    verdict = judge(settings, history)
    for name, count in verdict.checked.items():
        print(f"  {name}: {count} checks")
    print_violations(verdict.violations)
    if verdict.violations:
        by_name = collections.Counter(violation.invariant for violation in verdict.violations)
        print(f"{len(verdict.violations)} violations: {dict(by_name)}")
        print(f"repeat with: just prove model --seed {settings.seed} --seconds {settings.seconds:.0f}"
              f" --database {settings.database}")
    return 1 if verdict.violations else 0


def print_violations(violations):
    """Prints the first violations of each invariant with their evidence."""
    shown = collections.Counter()
    for violation in violations:
        shown[violation.invariant] += 1
        if shown[violation.invariant] <= SHOWN_MAX:
            print(f"VIOLATION {violation}", flush=True)


def parse():
    """Reads the arguments."""
    parser = argparse.ArgumentParser(prog="just prove", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["model", "lies", "judge"],
                        help="run the model, run it behind a lying proxy, or judge a saved history")
    parser.add_argument("--seed", type=int, default=None, help="decides the random choices; random by default")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=10, help="length of the calls on each database")
    length.add_argument("--seconds", type=float, help="length of the calls on each database")
    parser.add_argument("--database", choices=["sqlite", "postgres"], help="both by default")
    parser.add_argument("--binary", default=f"{TARGET}/debug/sealpost", help="the server to run; built by default")
    parser.add_argument("--history", help="file for the history, which `judge` reads")
    parser.add_argument("--without", action="append", default=[], choices=sorted(MODES), metavar="MODE",
                        help=f"leave out a behaviour of receivers: {', '.join(MODES)}")
    parser.add_argument("--no-faults", action="store_true", help="cause no faults of nodes and databases")
    return parser.parse_args()


def settings_of(arguments, database):
    """Returns the settings of a run on one database."""
    seconds = arguments.seconds or arguments.minutes * 60
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(1_000_000)
    retention = RETENTION_S if seconds >= 60 else RETENTION_OF_SHORT_RUNS_S
    return Settings(arguments.seed, database, seconds, arguments.binary, retention,
                    has_faults=not arguments.no_faults, modes_left_out=tuple(arguments.without))


if __name__ == "__main__":
    sys.exit(main())
