"""Installs pinned packages for the tests, into folders below target."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def python_packages(name, requirements):
    """Returns a virtual environment with exactly the packages of a requirements file."""
    folder = TARGET / name
    if is_new(folder, [requirements]):
        venv.create(folder, with_pip=True)
        succeed("PyPI", [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                         "--no-deps", "--requirement", requirements])
        finish(folder, [requirements])
    return folder


def node_packages(name, project):
    """Returns a folder with exactly the packages of a project's package-lock.json."""
    folder = TARGET / name
    pins = [project / file for file in ("package.json", "package-lock.json")]
    if is_new(folder, pins):
        folder.mkdir(parents=True)
        for pin in pins:
            shutil.copy(pin, folder)
        succeed("npm", ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"], folder)
        finish(folder, pins)
    return folder


def is_new(folder, pins):
    """Returns whether the folder lacks the pinned packages, and removes another selection."""
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text() == selection(pins):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def finish(folder, pins):
    (folder / "installed").write_text(selection(pins))


def selection(pins):
    return "".join(pin.read_text() for pin in pins)


def succeed(registry, command, folder=None):
    if subprocess.run(command, cwd=folder, check=False).returncode:
        sys.exit(f"{sys.argv[0]}: cannot install the pinned packages: check that {registry} is reachable")
