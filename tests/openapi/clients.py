"""Generates clients with openapi-python-client and openapi-typescript, and calls every operation with them.

The programs call operations that depend on each other. The other operations are called with their first example.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from python_client import call_every_operation

HERE = Path(__file__).resolve().parent
NODE = Path(os.environ["SEALPOST_OPENAPI_NODE"])
PROGRAMS = NODE / "node_modules/.bin"


def check_generated_clients(server, document):
    # Node searches packages beside a program and above.
    with tempfile.TemporaryDirectory(dir=NODE) as folder:
        file = Path(folder) / "openapi.json"
        file.write_text(json.dumps(document))
        print(f"the generated Python client calls all {check_python(server, file, document)} operations")
        print(f"the generated TypeScript types fit all {check_typescript(server, file, document)} operations")


def check_python(server, file, document):
    succeed("openapi-python-client", "generate", "--path", file, "--meta", "none", "--fail-on-warning",
            "--output-path", file.parent / "generated_client")
    sys.path.insert(0, str(file.parent))
    return call_every_operation(file.parent, "generated_client", server, document)


def check_typescript(server, file, document):
    folder = file.parent
    printed = succeed(PROGRAMS / "openapi-typescript", file, "--output", folder / "schema.ts")
    if "⚠" in printed or "warn" in printed.lower():
        sys.exit(f"tests/openapi: openapi-typescript warns:\n{printed}")
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copytree(HERE / "typescript", folder, dirs_exist_ok=True)
    program = folder / "client.mts"
    program.write_text(program.read_text().replace("// The other operations.", other_calls(program.read_text(), document)))
    succeed(PROGRAMS / "tsc", "--project", folder)
    callers = {"url": server.url, "alice": server.new_identity(), "bob": server.new_identity()}
    called = set(json.loads(succeed("node", folder / "client.mjs", json.dumps(callers))))
    operations = {f"{method} {path}" for path, item in document["paths"].items() for method in item}
    if called != operations:
        sys.exit(f"tests/openapi: the TypeScript client did not call: {sorted(operations - called)}")
    return len(called)


def other_calls(program, document):
    """Returns calls of the operations that the TypeScript program lacks, with their first example."""
    calls = ""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if f'.{method.upper()}("{path}"' in program:
                continue
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            body = f", body: {json.dumps(content['examples']['example1']['value'])}" if content else ""
            has_key = {"$ref": "#/components/parameters/X-DID-API-Key"} in operation["parameters"]
            headers = "as" if has_key else "account"
            calls += f'await client.{method.upper()}("{path}", {{ headers: {headers}(bob){body} }});\n'
    return calls


def succeed(*command):
    """Runs a command and returns its output."""
    ended = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False)
    if ended.returncode:
        sys.exit(f"tests/openapi: {command[0]} failed:\n{ended.stdout}")
    return ended.stdout
