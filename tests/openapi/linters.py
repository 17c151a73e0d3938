"""Checks the document with the linters of Spectral and Redocly. Each finding is an error, also a warning."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(os.environ["SEALPOST_OPENAPI_NODE"]) / "node_modules/.bin"


def lint(document):
    with tempfile.TemporaryDirectory() as folder:
        file, rules = Path(folder) / "openapi.json", Path(folder) / "spectral.json"
        file.write_text(json.dumps(document, indent=2))
        rules.write_text('{"extends": ["spectral:oas"]}')
        run("Spectral", "spectral", "lint", "--fail-severity", "hint", "--ruleset", str(rules), str(file))
        redocly(file)


def redocly(file):
    """Redocly succeeds with warnings, so this counts them."""
    found = run("Redocly", "redocly", "lint", "--extends", "recommended", "--format", "json", str(file))
    report = json.loads(found)
    if report["totals"]["errors"] or report["totals"]["warnings"]:
        findings = [f"{problem['ruleId']}: {problem['message']}" for problem in report["problems"]]
        sys.exit(f"tests/openapi: Redocly finds: {findings}")
    print("Redocly finds no errors and no warnings")


def run(name, program, *arguments):
    """Runs a program of the npm packages and returns its standard output."""
    environment = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    ended = subprocess.run([PROGRAMS / program, *arguments], env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"tests/openapi: {name} finds:\n{ended.stdout}{ended.stderr}")
    if name == "Spectral":
        print("Spectral finds no errors and no warnings")
    return ended.stdout
