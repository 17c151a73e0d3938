"""Writes the generated module of the Rust client."""


def repeatable(document):
    """Returns the module with the paths of the requests that may be repeated without harm."""
    gets = [operation.path for operation in document.operations if operation.method == "GET" and "{" not in operation.path]
    entries = "".join(f'    "{path}",\n' for path in sorted(document.repeatable + gets))
    return ("//! The requests that may be repeated after a lost response without harm.\n\n"
            "/// Paths of requests that may be repeated without harm, in order. Paths with parameters are not listed.\n"
            f"pub(super) const REPEATABLE: &[&str] = &[\n{entries}];\n")
