"""Runs the pages of the clients as a new user would, in an empty folder.

- The block of commands of the first steps starts a service, and creates a token and a webhook.
- A block after a comment with a file name becomes this file. A block of Rust must be part of its example instead.
- `sh` blocks run in order. A command with port 8090 is a receiver: while it runs, `send` must reach it.
- `text` blocks contain lines that the command before must print. `…` matches any text.
- The programs have at most 15 lines each, without the imports of Rust, and type checkers accept them.
- The programs of the landing page open a message.
- The recipes of `docs/recipes.md` run in order, as one program in each language. tests/quickstart runs those for curl.
"""

import html
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from generation import ROOT

PAGES = {
    "python": "clients/python/README.md",
    "typescript": "clients/typescript/README.md",
    "rust": "crates/client/README.md",
}
RECIPES = "docs/recipes.md"
LINES_MAX = 15
MESSAGE = "Meet me at noon."
TIMEOUT_S = 60


def check_readmes(binary):
    with tempfile.TemporaryDirectory() as folder:
        user = User(Path(binary).resolve(), Path(folder))
        try:
            user.prepare()
            for language, page in PAGES.items():
                user.follow(language, (ROOT / page).read_text())
            user.check_recipes((ROOT / RECIPES).read_text())
            user.check_landing_page()
            user.check_types()
        finally:
            user.stop()


class User:
    """A new user with an empty folder, who has only copies of the clients."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        api, self.port = free_port(), free_port()
        self.ports = {"8080": str(api), "8090": str(self.port)}
        self.groups = set()
        venv = folder / ".venv/bin"
        self.environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
            "PATH": f"{venv}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(folder / "config"), "PYTHONUNBUFFERED": "1",
            "PIP_CONSTRAINT": str(ROOT / "tests/clients/requirements.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "SEALPOST_LISTEN": f"127.0.0.1:{api}", "SEALPOST_OPS_LISTEN": "off", "SEALPOST_LOG": "warn"}

    def prepare(self):
        """Runs the first steps, and keeps their environment."""
        for client in ("python", "typescript"):
            unneeded = shutil.ignore_patterns("node_modules", "dist", "__pycache__", "*.tgz")
            shutil.copytree(ROOT / "clients" / client, self.folder / "clients" / client, ignore=unneeded)
        commands, = [content for kind, _, content in blocks_of((ROOT / "clients/README.md").read_text()) if kind == "sh"]
        names = ("SEALPOST_URL", "SEALPOST_TOKEN", "WEBHOOK_SECRET")
        values = " ".join(f'"${name}"' for name in names)
        self.run(f"{commands}\nprintf '%s\\n' {values} >environment")
        self.environment |= zip(names, (self.folder / "environment").read_text().split(), strict=True)
        # All pages share one key.
        key = self.run("$SEALPOST keys show --json | jq -r .api_key_id").strip()
        self.run(f"$SEALPOST admin plan set {key} builder")

    def follow(self, language, page):
        counts, printed, send = {}, "", None
        for kind, file, content in blocks_of(page):
            if kind == "sh" and "8090" in content:
                self.receive(content, send)
            elif kind == "sh":
                printed = self.run(content)
                send = content if "send" in content else send
            elif kind == "text":
                expect(language, content, printed)
            elif file:
                counts[file] = lines_of(content)
                self.write(kind, file, content)
        too_long = {file: count for file, count in counts.items() if count > LINES_MAX and "errors" not in file}
        if too_long or len(counts) < 4:
            sys.exit(f"tests/clients: {language}: programs with more than {LINES_MAX} lines: {too_long} of {counts}")
        print(f"{language}: the page works; lines of its programs: "
              f"{', '.join(f'{Path(file).name} {count}' for file, count in counts.items())}")

    def check_recipes(self, page):
        """Runs the blocks of each language as one program, which must print the lines of all `text` blocks."""
        blocks = blocks_of(page)
        expected = "".join(content for kind, _, content in blocks if kind == "text")
        for kind, file, command in (("python", "recipes.py", "python recipes.py"), ("js", "recipes.mjs", "node recipes.mjs"),
                                    ("rust", "recipes.rs", "cargo run -p sealpost-client --example recipes")):
            self.write("", file, "\n".join(content for block, _, content in blocks if block == kind))
            expect(kind, expected, self.run(command))
        print(f"the recipes of {RECIPES} work in three languages")

    def check_landing_page(self):
        """Runs the programs of the landing page, which open a message."""
        request = urllib.request.Request(self.environment["SEALPOST_URL"], headers={"Accept": "text/html"})
        with urllib.request.urlopen(request) as response:
            page = re.sub(r"</?span[^>]*>", "", response.read().decode())
        programs = re.findall(r"<code>((?:from|import) .*?)</code>", page, re.DOTALL)
        for program, file, command in zip(programs, ("landing.py", "landing.mjs"), ("python", "node"), strict=True):
            (self.folder / file).write_text(html.unescape(program))
            expect(file, "Hello, Alice.", self.run(f"{command} {file}"))
        print("the programs of the landing page open a message")

    def check_types(self):
        """Checks that the installed packages have types."""
        mypy = "mypy --python-executable .venv/bin/python --cache-dir mypy"
        self.run(f"{mypy} *.py && {mypy} --strict whole_job.py send.py handle_errors.py recipes.py")
        options = "--noEmit --strict --checkJs --allowJs --skipLibCheck --target es2022 --module nodenext"
        types = "--types node --typeRoots clients/typescript/node_modules/@types"
        self.run(f"clients/typescript/node_modules/.bin/tsc {options} {types} send.mjs handle_errors.mjs recipes.mjs")
        print("the installed packages have types")

    def write(self, kind, file, content):
        if kind != "rust":
            (self.folder / file).write_text(self.replaced(content))
        elif content not in (ROOT / file).read_text():
            sys.exit(f"tests/clients: {file} does not contain this block:\n{content}")

    def receive(self, command, send):
        """Runs a receiver, and sends it a message."""
        log = self.folder / "receiver.log"
        receiver = self.start(command, log)
        until(lambda: is_open(self.port), f"the receiver did not start: {command}", log)
        self.run(send)
        until(lambda: MESSAGE in log.read_text(), f"the receiver got no message: {command}", log)
        if not re.search(rf"ak_\w+ {re.escape(MESSAGE)}", log.read_text()):
            sys.exit(f"tests/clients: the receiver printed no sender:\n{log.read_text()}")
        os.killpg(receiver.pid, signal.SIGKILL)
        self.groups.remove(receiver.pid)
        receiver.wait()

    def run(self, commands):
        """Runs commands to their end and returns their output. Background processes go on."""
        log = self.folder / "commands.log"
        started = self.start(f"set -euo pipefail\n{commands}", log)
        status = started.wait(timeout=600)
        if " &\n" not in commands:
            self.groups.remove(started.pid)
        if status:
            sys.exit(f"tests/clients: status {status}:\n{commands}\n{log.read_text()}")
        return log.read_text()

    def start(self, commands, log):
        with log.open("w") as output:
            started = subprocess.Popen(["bash", "-c", self.replaced(commands)], cwd=self.folder, env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        self.groups.add(started.pid)
        return started

    def replaced(self, text):
        text = text.replace("cargo build --release -p sealpost\n", "")
        text = text.replace("./target/release/sealpost", str(self.binary)).replace("$SEALPOST ", f"{self.binary} ")
        text = re.sub(r"cargo run -p \S+ --example (\S+)", rf"{self.binary.parent}/examples/\1", text)
        for port, free in self.ports.items():
            text = re.sub(rf"\b{port}\b", free, text)
        return text

    def stop(self):
        """Ends the background processes."""
        for group in self.groups:
            os.killpg(group, signal.SIGKILL)


def blocks_of(page):
    """Returns the code blocks: kind, file of the comment before the block, content."""
    found = re.findall(r"(?:^<!-- (\S+) -->\n)?^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [(kind, file, content) for file, kind, content in found]


def lines_of(program):
    """Returns the number of lines of code, without the imports of Rust."""
    program = re.sub(r"^use [^;]+;$", "", program, flags=re.MULTILINE)
    return sum(1 for line in program.splitlines() if line.strip())


def expect(language, expected, printed):
    for line in expected.splitlines():
        pattern = ".*".join(map(re.escape, line.split("…")))
        if not any(re.fullmatch(pattern, found) for found in printed.splitlines()):
            sys.exit(f"tests/clients: {language}: no line {line} in:\n{printed}")


def until(condition, reason, log):
    """Waits for a condition."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"tests/clients: {reason}\n{log.read_text()}")
        time.sleep(0.1)


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return bound.getsockname()[1]
