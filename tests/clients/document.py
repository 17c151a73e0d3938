"""Reads the parts of the OpenAPI document that the generated code of the clients needs."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Paths of operations that the clients call by another path, or with a WebSocket.
OTHER_PATHS = {"/did.json", "/v1/webhooks", "/v1/webhooks/relay"}
# Members that representations of a model hide.
SECRETS = {"invite", "login_secret", "message", "recovery_code", "secret", "session_token", "token"}
# Members of requests with which null and absence have different effects.
NULL_HAS_AN_EFFECT = {("UpdateWebhook", "description")}
# Names of the variants of a schema that have no name in the document.
VARIANTS = {"MessageResult": ["StoredMessage", "RefusedMessage"]}


@dataclass(frozen=True)
class Type:
    """A type: a name, and the parameters of lists, dictionaries, literals and unions."""

    name: str
    parameters: tuple = ()


@dataclass(frozen=True)
class Member:
    name: str
    type: Type
    is_required: bool
    description: str
    is_secret: bool
    null_has_an_effect: bool


@dataclass(frozen=True)
class Model:
    """An object. A request accepts no members of newer services."""

    name: str
    description: str
    members: list[Member]
    is_request: bool


@dataclass(frozen=True)
class Choice:
    """A set of strings."""

    name: str
    description: str
    values: list[str]


@dataclass(frozen=True)
class Alias:
    """A name of a union."""

    name: str
    description: str
    type: Type


@dataclass(frozen=True)
class Operation:
    """An operation: the path, and the types of its bodies."""

    id: str
    method: str
    path: str
    body: Type | None
    is_body_required: bool
    result: Type
    needs_credentials: bool


class Document:
    """The models and the operations of the API."""

    def __init__(self, document):
        self.schemas = document["components"]["schemas"]
        self.events = {event: item["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                       for event, item in document["webhooks"].items()}
        # Generic types have numbered names.
        self.names = {reference: camel(event.replace(".", "_")) for event, reference in self.events.items()
                      if "/EventBody" in reference}
        self.declared, self.choices = {}, {}
        self.type_of({"$ref": "#/components/schemas/Problem"})
        self.operations = [self.operation(method, path, operation) for path, item in document["paths"].items()
                           for method, operation in item.items() if path not in OTHER_PATHS]
        for reference in self.events.values():
            self.type_of({"$ref": reference})
        self.declarations = [self.declared[name] for name in sorted(self.declared)]
        self.repeatable = repeatable(document["paths"])
        # Operations with a parameter in their path need no credentials either.
        self.unauthenticated = sorted(operation.path for operation in self.operations
                                      if not operation.needs_credentials and "{" not in operation.path)
        examples = document["components"]["examples"]
        codes = self.schemas["Problem"]["properties"]["code"]["enum"]
        self.titles = {code: examples[code]["value"]["title"] for code in codes}

    def operation(self, method, path, operation):
        body = operation.get("requestBody", {"content": {}})
        result = next(iter(operation["responses"]["200"]["content"].values()))["schema"]
        return Operation(operation["operationId"], method.upper(), path, self.body(body["content"]),
                         body.get("required", False), self.type_of(result), bool(operation.get("security")))

    def body(self, content):
        """Returns the type of a body, or None for a body without members."""
        type = self.type_of(content["application/json"]["schema"]) if content else None
        if type is None or self.declared[type.parameters[0]].members:
            return type
        del self.declared[type.parameters[0]]
        return None

    def type_of(self, schema, name=""):
        """Returns the type of a schema. `name` is for a schema that has no name in the document."""
        if "$ref" in schema:
            return self.referred(schema["$ref"])
        variants = schema.get("anyOf") or schema.get("oneOf")
        if variants:
            names = VARIANTS.get(name, [name] * len(variants))
            return union(self.type_of(variant, part) for variant, part in zip(variants, names, strict=True))
        if "const" in schema:
            return Type("literal", (schema["const"],))
        if "type" not in schema:
            return Type("any")
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return union(NULL if kind == "null" else self.type_of_kind(kind, schema, name) for kind in kinds)

    def type_of_kind(self, kind, schema, name):
        values = [value for value in schema.get("enum", []) if value is not None]
        if values and all(re.match("[A-Za-z]", str(value)) for value in values):
            return self.choice(name, values, schema.get("description", ""))
        if values:
            return Type("literal", tuple(values))
        if kind == "string" and schema.get("format") == "date-time":
            return Type("datetime")
        if kind == "array":
            return Type("list", (self.type_of(schema["items"], name),))
        if "properties" in schema:
            if name in self.declared:
                sys.exit(f"tests/clients: name the variants of {name} in VARIANTS of document.py")
            self.declared[name] = self.model(name, schema)
            return Type("model", (name,))
        if kind == "object":
            value = schema.get("additionalProperties", True)
            return Type("dict", (Type("any") if value is True else self.type_of(value),))
        return Type({"boolean": "bool", "integer": "int", "number": "float", "string": "str"}[kind])

    def choice(self, name, values, description):
        """Declares a set of strings, or returns an equal set that is declared already."""
        known = self.choices.setdefault(tuple(sorted(values)), name)
        if known == name:
            self.declared[name] = Choice(name, description, sorted(values))
        return Type("choice", (known,))

    def referred(self, reference):
        name = self.names.get(reference, reference.rsplit("/", 1)[1])
        schema = self.schemas[reference.rsplit("/", 1)[1]]
        if name in self.declared:
            return declared_type(self.declared[name])
        type = self.type_of(schema, name)
        # Other unions, and strings with a pattern, are written out.
        if type.name == "union" and all(part.name == "model" for part in type.parameters):
            self.declared[name] = Alias(name, schema.get("description", ""), type)
            return Type("alias", (name,))
        return type

    def model(self, name, schema):
        required = schema.get("required", [])
        is_request = schema.get("additionalProperties") is False
        # The clients send an optional `api_key_id` as a header.
        members = [Member(member, self.type_of(part, name + camel(member)), member in required,
                          part.get("description", ""), member in SECRETS, (name, member) in NULL_HAS_AN_EFFECT)
                   for member, part in schema["properties"].items()
                   if not is_request or member in required or member != "api_key_id"]
        return Model(name, schema.get("description", ""), members, is_request)

    def event_models(self):
        """Returns the name of the model of each event."""
        return {event: self.names.get(reference, reference.rsplit("/", 1)[1])
                for event, reference in self.events.items()}


def declared_type(declaration):
    kind = {Model: "model", Choice: "choice", Alias: "alias"}[type(declaration)]
    return Type(kind, (declaration.name,))


def union(types):
    """Returns the union of types, without repetitions."""
    parts = []
    for part in types:
        parts += [entry for entry in (part.parameters if part.name == "union" else [part]) if entry not in parts]
    parts.sort(key=lambda part: part == NULL)
    return parts[0] if len(parts) == 1 else Type("union", tuple(parts))


def repeatable(paths):
    """Returns the paths of POST requests that may be repeated after a lost response without harm."""
    return sorted(path for path, item in paths.items() if item.get("post", {}).get("x-repeatable"))


def camel(name):
    """Returns `CreateToken` for `CREATE_TOKEN`, `create_token` and `createToken`."""
    return "".join(word.capitalize() if word.isupper() or word.islower() else word[:1].upper() + word[1:]
                   for word in re.split(r"[_ ]", name))


NULL = Type("null")
