"""Runs the checks. tests/clients/run starts this program with its packages."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from calls_check import CALLING, check_calls
from generation import ROOT, differences, generate, lines_of_code, succeed, write
from platform_check import check_browser, check_deno
from readme_check import check_readmes
from relay_check import check_relay
from scenario_check import check_scenario
from server import Server

HERE = Path(__file__).resolve().parent
NODE = Path(os.environ["SEALPOST_CLIENTS_NODE"])
PYTHON = ROOT / "clients/python"
VECTORS = ROOT / "docs/examples/webhook-vectors.json"


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with Server(binary, folder) as server:
            generate(server.get("/openapi.json").json(), folder)
        if "--write" in sys.argv:
            return write(folder)
        changed = differences(folder)
        if changed:
            sys.exit(f"tests/clients: the generated code is old: run tests/clients/run --write\n{changed}")
        print(f"generating again changes nothing: {lines_of_code(folder)} lines")
    check_python()
    programs = build_typescript()
    check_scenario(binary, {
        "python": [sys.executable, HERE / "scenario.py", "sync"],
        "python async": [sys.executable, HERE / "scenario.py", "async"],
        "typescript": ["node", programs / "test/scenario.js"],
        "rust": [Path(binary).parent / "examples/client_scenario"],
    })
    check_calls(binary, {
        "python": [sys.executable, CALLING / "python/calls.py"],
        "typescript": ["node", programs / "test/calls.mjs"],
        "rust": [Path(binary).parent / "examples/call_endpoints"],
    })
    check_relay(binary, {
        "python": [sys.executable, HERE / "relay.py", "sync"],
        "python async": [sys.executable, HERE / "relay.py", "async"],
        "typescript": ["node", programs / "test/relay.js"],
    })
    check_browser(binary, NODE, VECTORS)
    check_deno(binary, NODE)
    check_readmes(binary)


def check_python():
    succeed("mypy", "src", folder=PYTHON)
    succeed("ruff", "check", "--no-cache", "src", "tests", folder=PYTHON)
    succeed("ruff", "format", "--no-cache", "--check", "src", folder=PYTHON)
    succeed(sys.executable, "-m", "unittest", "discover", "tests", folder=PYTHON)
    print("the types and the tests of the Python client pass")


def build_typescript():
    """Compiles the TypeScript client beside its packages, and returns the folder of the programs."""
    for name in ("src", "test", "dist"):
        shutil.rmtree(NODE / name, ignore_errors=True)
    for name in ("src", "test"):
        shutil.copytree(ROOT / "clients/typescript" / name, NODE / name)
    for name in ("tsconfig.json", "tsconfig.portable.json"):
        shutil.copy(ROOT / "clients/typescript" / name, NODE)
    for program in (HERE / "scenario.ts", HERE / "relay.ts", CALLING / "typescript/calls.mts"):
        shutil.copy(program, NODE / "test")
    succeed(NODE / "node_modules/.bin/tsc", folder=NODE)
    # Without the types of Node, the core can use only functions that browsers and Deno have too.
    succeed(NODE / "node_modules/.bin/tsc", "--project", "tsconfig.portable.json", folder=NODE)
    os.environ["SEALPOST_VECTORS"] = str(VECTORS)
    tests = [str(file) for file in sorted((NODE / "dist/test").glob("*.test.js"))]
    succeed("node", "--test", *tests, folder=NODE)
    print("the types and the tests of the TypeScript client pass")
    return NODE / "dist"


if __name__ == "__main__":
    main()
