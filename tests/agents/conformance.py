"""Runs the server scenarios of `@modelcontextprotocol/conformance` that apply."""

import os
import subprocess
import sys

APPLICABLE = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]

# The other scenarios, and the reasons why they do not apply.
TEST_TOOL = "calls a tool of the reference server, such as test_simple_text"
SESSION = "needs sessions, which are optional; this server keeps none"
NOT_APPLICABLE = {
    "logging-set-level": "needs the capability logging",
    "completion-complete": "needs the capability completions",
    "tools-call-simple-text": TEST_TOOL,
    "tools-call-image": TEST_TOOL,
    "tools-call-audio": TEST_TOOL,
    "tools-call-embedded-resource": TEST_TOOL,
    "tools-call-mixed-content": TEST_TOOL,
    "tools-call-with-logging": TEST_TOOL,
    "tools-call-error": TEST_TOOL,
    "tools-call-with-progress": TEST_TOOL,
    "tools-call-sampling": TEST_TOOL,
    "tools-call-elicitation": TEST_TOOL,
    "json-schema-2020-12": TEST_TOOL,
    "elicitation-sep1034-defaults": TEST_TOOL,
    "elicitation-sep1330-enums": TEST_TOOL,
    "server-sse-polling": SESSION,
    "server-sse-multiple-streams": SESSION,
    "resources-list": "needs the capability resources",
    "resources-read-text": "needs the capability resources",
    "resources-read-binary": "needs the capability resources",
    "resources-templates-read": "needs the capability resources",
    "resources-subscribe": "needs the capability resources",
    "resources-unsubscribe": "needs the capability resources",
    "prompts-list": "needs the capability prompts",
    "prompts-get-simple": "needs the capability prompts",
    "prompts-get-with-args": "needs the capability prompts",
    "prompts-get-embedded-resource": "needs the capability prompts",
    "prompts-get-with-image": "needs the capability prompts",
}


def check(url, packages):
    listed = run(packages, "list", "--server").stdout
    names = [line.split()[1] for line in listed.splitlines() if line.startswith("  - ")]
    if sorted(names) != sorted([*APPLICABLE, *NOT_APPLICABLE]):
        sys.exit(f"tests/agents: list each scenario as applicable or not: {names}")
    for name in APPLICABLE:
        done = run(packages, "server", "--url", url, "--scenario", name)
        if done.returncode:
            sys.exit(f"tests/agents: the conformance scenario {name} failed:\n{done.stdout}")
    print(f"conformance: {len(APPLICABLE)} scenarios passed, {len(NOT_APPLICABLE)} do not apply")


def run(packages, *arguments):
    """Runs the program with Deno, because it needs a newer Node than Debian has."""
    program = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    return subprocess.run(["deno", "run", "--quiet", "--allow-all", "--node-modules-dir=manual", program, *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=packages,
                          env={**os.environ, "NO_COLOR": "1"})
