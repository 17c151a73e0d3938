"""Writes the generated modules of the TypeScript client."""

import json
import re
import sys
import textwrap

from document import Alias, Choice, Model, Type, camel

LINE_MAX = 120


def models(document):
    """Returns the module with all bodies, and the table of operations."""
    texts = {Choice: choice, Model: model, Alias: alias}
    rows = "".join(row(operation) for operation in document.operations)
    table = f"/** The types of the bodies of each operation. */\nexport interface Operations {{\n{rows}}}\n"
    return "\n" + "\n".join([*(texts[type(declaration)](declaration) for declaration in document.declarations), table])


def choice(declaration):
    return declared(declaration, Type("literal", tuple(declaration.values)))


def alias(declaration):
    return declared(declaration, declaration.type)


def declared(declaration, type):
    lines = documentation(declaration.description)
    short = f"export type {declaration.name} = {text(type)};"
    if len(short) <= LINE_MAX:
        return "\n".join([*lines, short, ""])
    parts = text(type).split(" | ")
    return "\n".join([*lines, f"export type {declaration.name} =", *(f"  | {part}" for part in parts)]) + ";\n"


def model(declaration):
    lines = documentation(declaration.description) + [f"export interface {declaration.name} {{"]
    for member in declaration.members:
        name = member.name if re.fullmatch(r"\w+", member.name) else json.dumps(member.name)
        lines += documentation(member.description, "  ")
        lines += [f"  {name}{'' if member.is_required else '?'}: {text(member.type)};"]
    return "\n".join(lines) + "\n}\n"


def operations(document):
    """Returns the module with classes of operations and of members."""
    return (constant("REPEATABLE", document.repeatable, "Paths whose requests may be repeated after a lost response without harm.") +
            constant("UNAUTHENTICATED", document.unauthenticated, "Paths that need no credentials.") +
            constant("INSTANTS", instants(document), "Members of responses and events that are times."))


def row(operation):
    body = "undefined" if operation.body is None else text(operation.body)
    if operation.body and not operation.is_body_required:
        body += " | undefined"
    return f'  "{operation.method} {operation.path}": {{ body: {body}; result: {text(operation.result)} }};\n'


def constant(name, values, description):
    entries = "".join(f'  "{value}",\n' for value in values)
    return f"\n/** {description} */\nexport const {name}: readonly string[] = [\n{entries}];\n"


def instants(document):
    """Returns the names of times. No other text has such a name, so a client finds times by their names."""
    members = [(member.name, part) for declaration in document.declarations
               if isinstance(declaration, Model) and not declaration.is_request for member in declaration.members
               for part in (member.type.parameters if member.type.name == "union" else [member.type])]
    times = {name for name, part in members if part.name == "datetime"}
    texts = {name for name, part in members if part.name in ("any", "choice", "literal", "str")}
    if times & texts:
        sys.exit(f"tests/clients: {sorted(times & texts)} are times in some responses, and other texts in others")
    return sorted(times)


def errors(document):
    """Returns the module with a class for each error code."""
    lines = ['import { ApiError } from "../errors.js";', ""]
    for code, title in document.titles.items():
        lines += [f"/** {title}. */", f"export class {camel(code)} extends ApiError {{",
                  f'  override readonly name: string = "{camel(code)}";', "}", ""]
    classes = "".join(f"  {code}: {camel(code)},\n" for code in document.titles)
    lines += [f"export const BY_CODE: Readonly<Record<string, typeof ApiError>> = {{\n{classes}}};"]
    return "\n".join(lines) + "\n"


def text(type):
    """Returns the TypeScript type."""
    match type.name:
        case "any":
            return "unknown"
        case "datetime":
            return "Date"
        case "bool":
            return "boolean"
        case "int" | "float":
            return "number"
        case "str":
            return "string"
        case "list":
            inner = text(type.parameters[0])
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case "dict":
            return f"Record<string, {text(type.parameters[0])}>"
        case "literal":
            return " | ".join(map(json.dumps, type.parameters))
        case "union":
            return " | ".join(map(text, type.parameters))
        case "model" | "choice" | "alias":
            return type.parameters[0]
        case name:
            return name


def documentation(description, indent=""):
    """Returns a comment, wrapped below the length of a line."""
    if not description:
        return []
    if len(indent + description) + 7 <= LINE_MAX:
        return [f"{indent}/** {description} */"]
    lines = textwrap.wrap(description, LINE_MAX - len(indent) - 3)
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]
