"""Reads the modules of one crate target and resolves the imports between the files.

Follows `mod` declarations from the crate root, so that files of test modules are never read. Resolves `crate::`,
`self::`, `super::`, nested braces, aliases and re-exports. Ignores names that macros generate.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from imports.source import blank, closing, without_tests

MODULE = re.compile(r"\bmod\s+(?P<name>(?:r#)?\w+)\s*(?P<end>[;{])")
USE = re.compile(r"(?P<public>\bpub(?:\s*\([^)]*\))?\s+)?\buse\s+(?P<tree>[\w:{*][^;$]*);")
ITEM = re.compile(r"\b(?:struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)")
PATH_ATTRIBUTE = re.compile(r'#\[path\s*=\s*"([^"]+)"\]\s*(?:pub(?:\([^)]*\))?\s+)?$')


@dataclass
class Import:
    """One path of a `use` declaration."""

    segments: list
    binding: str
    is_public: bool
    line: int

    def __str__(self):
        alias = "" if self.binding in (self.segments[-1], "self") else f" as {self.binding}"
        return "use " + "::".join(self.segments) + alias


@dataclass
class Module:
    name: str
    parent: "Module | None"
    file: Path
    folder: Path
    children: dict = field(default_factory=dict)
    imports: list = field(default_factory=list)
    items: set = field(default_factory=set)

    def root(self):
        return self.parent.root() if self.parent else self

    def is_below(self, other):
        return self.parent is not None and (self.parent is other or self.parent.is_below(other))

    def walk(self):
        yield self
        for child in self.children.values():
            yield from child.walk()


def read_crate(root_file):
    """Returns the root module of the crate target whose root is `root_file`."""
    root = Module("crate", None, root_file, root_file.parent)
    read_file(root)
    return root


def read_file(module):
    text = module.file.read_text(encoding="utf-8")
    read_code(module, text, without_tests(text), 0)


def read_code(module, text, code, offset):
    """Fills `module` from `code`, which starts at `offset` of `text`."""
    position = 0
    while found := MODULE.search(code, position):
        name = found["name"].removeprefix("r#")
        end = found.end()
        if found["end"] == ";":
            before = text[: offset + found.start()]
            add_file_module(module, name, PATH_ATTRIBUTE.search(before))
        else:
            end = closing(code, found.end() - 1)
            child = Module(name, module, module.file, module.folder / name)
            module.children[name] = child
            inner = code[found.end() : end - 1]
            read_code(child, text, inner, offset + found.end())
        code = code[: found.start()] + blank(code[found.start() : end]) + code[end:]
        position = end
    for found in USE.finditer(code):
        line = text.count("\n", 0, offset + found.start("tree")) + 1
        for segments, binding in paths_of(found["tree"]):
            module.imports.append(Import(segments, binding, bool(found["public"]), line))
    module.items.update(ITEM.findall(outside_braces(code)))


def outside_braces(code):
    """Returns the code without bodies, so that methods and fields do not count as items of the module."""
    kept, depth = [], 0
    for character in code:
        depth -= character == "}"
        kept.append(character if depth == 0 else " ")
        depth += character == "{"
    return "".join(kept)


def add_file_module(module, name, path_attribute):
    if path_attribute:
        candidates = [module.file.parent / path_attribute[1]]
    else:
        candidates = [module.folder / f"{name}.rs", module.folder / name / "mod.rs"]
    for file in candidates:
        if file.exists():
            folder = file.parent if file.name == "mod.rs" or path_attribute else file.parent / name
            module.children[name] = Module(name, module, file, folder)
            read_file(module.children[name])
            return


def paths_of(tree):
    """Yields the segments and the bound name of each path in a use tree, for example `a::{b, c::d as e}`."""
    prefix, brace, rest = tree.partition("{")
    segments = [part.strip().removeprefix("r#") for part in prefix.split("::") if part.strip()]
    if brace:
        for branch in branches_of(rest[: rest.rindex("}")]):
            for inner, binding in paths_of(branch):
                if inner == ["self"]:
                    yield segments, segments[-1] if binding == "self" else binding
                else:
                    yield segments + inner, binding
    elif segments:
        last, _, alias = re.sub(r"\s+", " ", segments[-1]).partition(" as ")
        yield segments[:-1] + [last], alias or last


def branches_of(inside):
    depth, start = 0, 0
    for offset, character in enumerate(inside):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            yield inside[start:offset]
            start = offset + 1
    if inside[start:].strip():
        yield inside[start:]


def resolve(module, segments, visited=frozenset()):
    """Returns the module that defines the path, or `None` for a path into another crate.

    A name that this crate re-exports from another crate belongs to the re-exporting module.
    """
    first, rest = segments[0], segments[1:]
    if first == "crate":
        return descend(module.root(), rest, visited)
    if first == "self":
        return descend(module, rest, visited)
    if first == "super":
        return descend(module.parent, rest, visited) if module.parent else None
    if first in module.children or first in module.items or binding_of(module, first, visited):
        return descend(module, segments, visited)
    return None


def descend(module, segments, visited):
    while segments and segments[0] in ("self", "super"):
        module = module.parent if segments[0] == "super" else module
        segments = segments[1:]
    if not segments or segments[0] == "*":
        return module
    name, rest = segments[0], segments[1:]
    imported = binding_of(module, name, visited)
    if name in module.children and (rest or not (imported or name in module.items)):
        return descend(module.children[name], rest, visited)
    if imported and name not in module.items:
        target = resolve(module, imported.segments, visited | {(id(module), name)})
        if target is None:
            return module
        if rest and imported.segments[-1] != "*" and is_module(target, imported.segments[-1]):
            return descend(target, rest, visited | {(id(module), name)})
        return target
    for glob in module.imports:
        mark = (id(module), id(glob), name)
        if glob.binding != "*" or mark in visited or name in module.items:
            continue
        source = resolve(module, glob.segments[:-1], visited | {mark})
        if source is not None and source is not module and has_name(source, name):
            return descend(source, segments, visited | {mark})
    return module


def is_module(target, name):
    return target.name == name or name in ("self", "super", "crate")


def has_name(module, name):
    return name in module.items or name in module.children or any(use.binding == name for use in module.imports)


def binding_of(module, name, visited):
    """Returns the import that binds `name` in `module`, unless the resolution is already inside that import."""
    if (id(module), name) in visited:
        return None
    return next((use for use in module.imports if use.binding == name), None)


def arrows(root):
    """Yields `(file, imported file, import)` for each import between two files of the crate.

    A module that re-exports names of its own descendants does not import these names.
    """
    for module in root.walk():
        for use in module.imports:
            target = resolve(module, use.segments, frozenset({(id(module), use.binding)}))
            if target is None or target.file == module.file:
                continue
            if use.is_public and target.is_below(module):
                continue
            yield module.file, target.file, use
