//! The examples of the API reference in several languages. Most examples call a client library. The tests run each
//! program, so no page shows untested code.

use super::guides::{self, FILES};

/// An example of an operation in one language.
pub(super) struct Snippet {
    pub(super) language: &'static str,
    pub(super) text: String,
}

/// Returns the examples of an operation.
pub(super) fn snippets(operation: &str) -> Vec<Snippet> {
    let calls = CALLS.iter().filter_map(|(language, path)| {
        let text = call(source(path)?, operation)?;
        Some(Snippet { language, text })
    });
    let programs = PROGRAMS.iter().filter(|(id, _, _)| *id == operation);
    let programs = programs.filter_map(|(_, language, path)| {
        let text = match path.split_once('#') {
            Some((guide, file)) => guides::quoted_file(guide, file)?,
            None => source(path)?,
        };
        Some(Snippet { language, text: text.to_owned() })
    });
    calls.chain(programs).collect()
}

fn source(path: &str) -> Option<&'static str> {
    FILES.iter().find(|file| file.path == path).map(|file| file.text)
}

/// Returns the example of an operation from a program: the imports, the lines that create the client, and the lines
/// that call the operation. Returns `None` if the program does not call the operation.
fn call(program: &str, operation: &str) -> Option<String> {
    let call = part(program, operation)?;
    let client = CLIENTS.iter().find(|client| call.contains(&format!("{client}.")))?;
    let start = [part(program, "setup")?, part(program, client)?].join("\n");
    let is_import = |line: &&str| IMPORTS.iter().any(|word| line.starts_with(word));
    let imports = start.lines().chain(call.lines()).filter(is_import);
    let start = start.lines().filter(|line| !is_import(line) && !line.is_empty());
    let calls = call.lines().filter(|line| !is_import(line));
    let [imports, start, call] =
        [imports.collect(), start.collect(), calls.collect()].map(|lines: Vec<_>| lines.join("\n"));
    Some([imports.as_str(), start.as_str(), call.trim_start()].join("\n\n"))
}

/// Returns the lines between the comments `[name]` and `[end]`, without their common indentation.
fn part(program: &str, name: &str) -> Option<String> {
    let (start, end) = (format!("[{name}]"), "[end]");
    let mut lines = program.lines().skip_while(|line| !line.ends_with(&start));
    let first = lines.next()?;
    let indent = first.len() - first.trim_start().len();
    let lines = lines.take_while(|line| !line.ends_with(end));
    let lines: Vec<_> = lines.map(|line| line.get(indent..).unwrap_or_default()).collect();
    Some(lines.join("\n").trim_end().to_owned())
}

/// The language and the file of each program that calls many endpoints.
const CALLS: [(&str, &str); 3] = [
    ("Python", "docs/examples/calling/python/calls.py"),
    ("TypeScript", "docs/examples/calling/typescript/calls.mts"),
    ("Rust", "docs/examples/calling/rust/calls.rs"),
];
/// The names of the variables that hold a client in these programs: a client with the login secret, one without
/// credentials, and one with an API token.
const CLIENTS: [&str; 3] = ["owner", "visitor", "client"];
/// The beginnings of the lines that import something.
const IMPORTS: [&str; 3] = ["import ", "from ", "use "];
/// The operation, the language and the source of each program that is shown as a whole. The source is the path of a
/// file, or `GUIDE#FILE` for a program inside a guide: see [`guides::quoted_file`].
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("receiveEnvelope", "Python", "python#receive_flask.py"),
    ("receiveEnvelope", "TypeScript", "typescript#receive.mjs"),
    ("receiveEnvelope", "Rust", "rust#crates/client/examples/receive_axum.rs"),
    ("receiveEnvelope", "Go", "docs/examples/receiving/go/by_hand.go"),
];

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "\
# [setup]
import json
# [end]

def main():
    # [sendMessage]
    if sent:
        print(client.sent)
    # [end]

# [client]
client = Client()
# [end]

# [owner]
from client import Login

login = Login()
owner = Client(login)
# [end]

# [closeAccount]
owner.close()
# [end]
";

    #[test]
    fn a_call_has_the_parts_that_it_needs_without_indentation() {
        let sent = "import json\n\nclient = Client()\n\nif sent:\n    print(client.sent)";
        assert_eq!(call(PROGRAM, "sendMessage").as_deref(), Some(sent));
        let closed = "import json\nfrom client import Login\n\nlogin = Login()\nowner = Client(login)\n\nowner.close()";
        assert_eq!(call(PROGRAM, "closeAccount").as_deref(), Some(closed));
        assert_eq!(call(PROGRAM, "openEnvelope"), None);
    }

    #[test]
    fn sends_have_an_example_in_each_language() {
        let languages: Vec<_> = snippets("sendMessage").iter().map(|it| it.language).collect();
        assert_eq!(languages, ["Python", "TypeScript", "Rust"]);
    }
}
