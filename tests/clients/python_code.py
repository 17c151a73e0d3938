"""Writes the generated modules of the Python client."""

import re
import textwrap

from document import NULL, Alias, Choice, camel

LINE_MAX = 120


def models(document):
    """Returns the module with all bodies."""
    heads = {Alias: [], Choice: [], None: []}
    for declaration in document.declarations:
        heads.get(type(declaration), heads[None]).append(declaration)
    parts = [MODELS_HEAD, *map(choice, heads[Choice]), *map(model, heads[None]), *map(alias, heads[Alias]),
             event_bodies(document)]
    return "\n\n".join(parts)


MODELS_HEAD = '''"""The bodies of requests, responses and events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .model import UNSET, Choice, Request, Response, Unset
'''


def choice(declaration):
    values = [f'    {re.sub("[^A-Z0-9]", "_", value.upper())} = "{value}"' for value in declaration.values]
    return "\n".join([f"class {declaration.name}(Choice):", *documentation(declaration.description), "", *values, ""])


def model(declaration):
    base = "Request" if declaration.is_request else "Response"
    required = [member for member in declaration.members if member.is_required]
    optional = [member for member in declaration.members if not member.is_required]
    lines = ["@dataclass", f"class {declaration.name}({base}):", *documentation(declaration.description), ""]
    for entry in required + optional:
        lines += member(entry)
    return "\n".join(lines) + "\n"


def member(entry):
    name = snake(entry.name)
    annotation, default = text(entry.type), None
    if not entry.is_required:
        default = "UNSET" if entry.null_has_an_effect else "None"
        missing = "Unset" if entry.null_has_an_effect else "None"
        annotation = annotation if annotation.endswith(f"| {missing}") else f"{annotation} | {missing}"
    options = [f"default={default}"] * (not entry.is_required) + ["repr=False"] * entry.is_secret
    if name != entry.name:
        options.append(f'metadata={{"name": "{entry.name}"}}')
    value = default if options == [f"default={default}"] else f"field({', '.join(options)})" if options else None
    return [f"    {name}: {annotation}" + (f" = {value}" if value else ""), *documentation(entry.description)]


def snake(name):
    """Returns `public_key_jwk` for `publicKeyJwk`, and `context` for `@context`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name.removeprefix("@"))


def alias(declaration):
    return f"{declaration.name} = {text(declaration.type)}\n"


def event_bodies(document):
    models = document.event_models()
    entries = "".join(f'    "{event}": {name},\n' for event, name in models.items())
    return (f"EventBody = {' | '.join(models.values())}\n\n"
            f"EVENTS: dict[str, type[EventBody]] = {{\n{entries}}}\n")


def operations(document):
    """Returns the table of operations."""
    rows = [row(operation, document) for operation in document.operations]
    declared = {declaration.name for declaration in document.declarations}
    names = sorted(declared & set(re.findall(r"\w+", " ".join(rows))))
    lines = ['"""The operations of the API: method, path, and the types of the bodies."""\n', "from typing import Any\n",
             "from .model import one_of", f"from .models import {', '.join(names)}", "from .operation import Operation\n"]
    lines += rows
    lines += ["\nREPEATABLE = " + tuple_of(document.repeatable), "UNAUTHENTICATED = " + tuple_of(document.unauthenticated)]
    return "\n".join(lines) + "\n"


def row(operation, document):
    body = "None" if operation.body is None else text(operation.body)
    if operation.body and not operation.is_body_required:
        body += " | None"
    result, (name, *_) = text(operation.result), operation.result.parameters or [None]
    parse = {"str": "str", "dict": "dict", "model": f"{name}.from_dict"}.get(operation.result.name)
    if parse is None:
        variants = next(entry.type.parameters for entry in document.declarations if entry.name == name)
        parse = f"one_of({', '.join(map(text, variants))})"
    constant = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation.id).upper()
    return f'{constant} = Operation[{body}, {result}]("{operation.method}", "{operation.path}", {parse})'


def tuple_of(values):
    return "(\n" + "".join(f'    "{value}",\n' for value in values) + ")"


def exceptions(document):
    """Returns the module with an exception for each error code."""
    lines = ['"""One exception for each error code."""\n', "from .errors import ApiError\n\n"]
    for code, title in document.titles.items():
        lines += [f"class {camel(code)}(ApiError):", f'    """{title}."""\n', f'    CODE = "{code}"\n\n']
    names = [camel(code) for code in document.titles]
    lines += [f"BY_CODE: dict[str | None, type[ApiError]] = {{error.CODE: error for error in ({', '.join(names)})}}"]
    return "\n".join(lines) + "\n"


def text(type):
    """Returns the annotation of a type."""
    match type.name:
        case "any":
            return "Any"
        case "null":
            return "None"
        case "list":
            return f"list[{text(type.parameters[0])}]"
        case "dict":
            return f"dict[str, {text(type.parameters[0])}]"
        case "literal":
            return f"Literal[{', '.join(map(repr, type.parameters))}]".replace("'", '"')
        case "union":
            return " | ".join(map(text, type.parameters))
        case "model" | "choice" | "alias":
            return type.parameters[0]
        case name:
            return name


def documentation(description):
    """Returns a docstring, wrapped below the length of a line."""
    if not description:
        return []
    escaped = description.replace("\\", "\\\\")
    if len(escaped) + 10 <= LINE_MAX:
        return [f'    """{escaped}"""']
    first, *rest = textwrap.wrap(f'"""{escaped}', LINE_MAX - 4)
    return [f"    {first}", *(f"    {line}" for line in rest), '    """']
