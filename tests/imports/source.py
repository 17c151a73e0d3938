"""Reduces Rust source to the code that the compiler sees outside tests.

Comments, literals and test-only items become spaces, so that offsets and line numbers stay valid.
"""

import re

NOISE = re.compile(
    r"""
      //[^\n]*
    | /\*.*?\*/
    | \b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
    | \b[bc]?"(?:\\.|[^"\\])*"
    | "(?:\\.|[^"\\])*"
    | '(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'
    """,
    re.VERBOSE | re.DOTALL,
)
TEST_ONLY = re.compile(r"#(?P<file>!?)\[\s*cfg\s*\(\s*(?:test\b|all\s*\(\s*test\b)")
PAIRS = {"(": ")", "[": "]", "{": "}"}


def without_tests(text):
    """Returns the code of a file with comments, literals and `#[cfg(test)]` items blanked."""
    code = NOISE.sub(lambda noise: blank(noise.group()), text)
    position = 0
    while found := TEST_ONLY.search(code, position):
        if found["file"]:
            return blank(code)
        end = end_of_item(code, found.start())
        code = code[: found.start()] + blank(code[found.start() : end]) + code[end:]
        position = end
    return code


def end_of_item(code, position):
    """Returns the offset after the item that starts at `position`, including the item's attributes."""
    while attribute := re.compile(r"\s*#\[").match(code, position):
        position = closing(code, attribute.end() - 1)
    is_use = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?use\b").match(code, position)
    while position < len(code):
        if code[position] in ";,)}":
            return position + (code[position] in ";,")
        if code[position] in PAIRS:
            is_body = code[position] == "{" and not is_use
            position = closing(code, position)
            if is_body:
                return position
        else:
            position += 1
    return position


def closing(code, position):
    """Returns the offset after the bracket that closes the bracket at `position`."""
    depth = 0
    for offset in range(position, len(code)):
        if code[offset] in "([{":
            depth += 1
        elif code[offset] in ")]}":
            depth -= 1
            if depth == 0:
                return offset + 1
    return len(code)


def blank(text):
    """Replaces each character except line ends with a space."""
    return re.sub(r"[^\n]", " ", text)
