//! Marks the comments, strings, keywords and numbers of example code, so that the stylesheet can colour them. Simple
//! patterns instead of a parser suffice for the languages of the examples.

use std::fmt::Write as _;

use super::markup::escaped;

/// Returns code as HTML. Code in an unknown language has no marks.
pub(crate) fn html(language: &str, code: &str) -> String {
    let Some(syntax) = SYNTAXES.iter().find(|syntax| syntax.languages.contains(&language)) else {
        return escaped(code);
    };
    let mut html = String::with_capacity(code.len() * 2);
    let (mut rest, mut before) = (code, ' ');
    while !rest.is_empty() {
        let (length, class) = syntax.token(rest, before);
        let (token, after) = rest.split_at(length);
        let text = escaped(token);
        if let Some(class) = class {
            // Writing to a string cannot fail.
            write!(html, "<span class=\"{class}\">{text}</span>").unwrap_or_default();
        } else {
            html.push_str(&text);
        }
        before = token.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    html
}

/// The rules that find the coloured tokens of a language.
struct Syntax {
    /// The names of the language: in the fence of a code block, and on a tab.
    languages: &'static [&'static str],
    /// The beginning and the end of each kind of comment.
    comments: &'static [(&'static str, &'static str)],
    /// The quotation marks that begin and end strings. Longer marks come first, so that `"""` is not read as `"`.
    quotes: &'static [&'static str],
    /// True for a shell, which has flags, commands inside `"`, and no escapes inside `'`.
    is_shell: bool,
    /// True if a string between quotes of one character may have several lines.
    has_long_strings: bool,
    has_numbers: bool,
    /// The keywords, separated by spaces.
    keywords: &'static str,
}

impl Syntax {
    /// Returns the length and the class of the first token of `rest`, which follows the character `before`.
    fn token(&self, rest: &str, before: char) -> (usize, Option<&'static str>) {
        let first = rest.chars().next().unwrap_or(' ');
        // A comment begins only after white space, because in a shell `#` and `//` are also parts of words.
        if before.is_whitespace()
            && let Some((start, end)) =
                self.comments.iter().find(|(start, _)| rest.starts_with(start))
        {
            let length = rest.split_at(start.len()).1.find(end).map(|at| start.len() + at);
            // The end of a line is no part of its comment.
            let length = length.map(|at| if *end == "\n" { at } else { at + end.len() });
            return (length.unwrap_or(rest.len()), Some("comment"));
        }
        if let Some(quote) = self.quotes.iter().find(|quote| rest.starts_with(**quote)) {
            return self.string(rest, quote).unwrap_or((quote.len(), None));
        }
        if self.is_shell && rest.starts_with("--") && before.is_whitespace() {
            return (end_of(rest, |it| it.is_alphanumeric() || it == '-'), Some("flag"));
        }
        if first.is_ascii_digit() {
            let length = end_of(rest, |it| it.is_ascii_alphanumeric() || it == '_' || it == '.');
            return (length, self.has_numbers.then_some("number"));
        }
        if first.is_alphabetic() || first == '_' {
            let length = end_of(rest, |it| it.is_alphanumeric() || it == '_');
            let word = rest.split_at(length).0;
            // After `.` or `-`, a word is a member or a flag, even if it has the name of a keyword.
            let is_keyword =
                !['.', '-'].contains(&before) && self.keywords.split(' ').any(|it| it == word);
            return (length, is_keyword.then_some("keyword"));
        }
        // A backslash escapes the next character, which may be a quote.
        let escaped = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
        (first.len_utf8() + escaped.map_or(0, char::len_utf8), None)
    }

    /// Returns the length and the class of the string that `rest` begins with. Returns `None` if the string has no end.
    fn string(&self, rest: &str, quote: &str) -> Option<(usize, Option<&'static str>)> {
        let is_long = self.has_long_strings || quote.len() > 1 || quote == "`";
        let mut from = quote.len();
        let length = loop {
            let part = rest.get(from..)?;
            if part.starts_with(quote) {
                break from + quote.len();
            }
            let mut symbols = part.chars();
            from += match symbols.next()? {
                // A command inside the string has quotes of its own.
                '$' if self.is_shell && quote == "\"" && part.starts_with("$(") => {
                    self.command(part)?
                }
                '\n' if !is_long => return None,
                // A backslash is an escape, but not between the single quotes of a shell.
                '\\' if !(self.is_shell && quote == "'") => 1 + symbols.next()?.len_utf8(),
                symbol => symbol.len_utf8(),
            };
        };
        // Gives the name of a JSON member no mark, so that only values are coloured.
        let is_name = self.keywords == JSON && rest.split_at(length).1.starts_with(':');
        Some((length, (!is_name).then_some("string")))
    }

    /// Returns the length of the command that `rest` begins with: `$(…)`. Returns `None` if the command has no end.
    fn command(&self, rest: &str) -> Option<usize> {
        let (mut from, mut depth) = (0, 0);
        loop {
            let (done, part) = rest.split_at_checked(from)?;
            let (length, _) = self.token(part, done.chars().next_back().unwrap_or(' '));
            match part.chars().next()? {
                '(' => depth += 1,
                ')' if depth == 1 => return Some(from + length),
                ')' => depth -= 1,
                _ => {}
            }
            from += length;
        }
    }
}

/// Returns the length in bytes of the longest prefix of `text` whose characters are all accepted.
fn end_of(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|it| !accepts(it)).unwrap_or(text.len())
}

const JSON: &str = "true false null";
/// A syntax without keywords and comments. Other syntaxes are defined by their differences from it.
const PLAIN: Syntax = Syntax {
    languages: &[],
    comments: &[],
    quotes: &["\""],
    is_shell: false,
    has_long_strings: false,
    has_numbers: true,
    keywords: "",
};
const SYNTAXES: [Syntax; 8] = [
    Syntax {
        languages: &["sh", "curl"],
        comments: &[("#", "\n")],
        quotes: &["\"", "'"],
        is_shell: true,
        has_long_strings: true,
        has_numbers: false,
        keywords: "if then else fi for do done while case esac",
    },
    Syntax {
        languages: &["python", "Python"],
        comments: &[("#", "\n")],
        quotes: &["\"\"\"", "\"", "'"],
        keywords: "and as assert async await break class continue def del elif else except False finally for from global \
                   if import in is lambda None nonlocal not or pass raise return True try while with yield",
        ..PLAIN
    },
    Syntax {
        languages: &["js", "TypeScript"],
        comments: &[("//", "\n"), ("/*", "*/")],
        quotes: &["\"", "'", "`"],
        keywords: "as async await break case catch class const continue default delete do else export extends false \
                   finally for from function if import in instanceof let new null of return static switch this throw \
                   true try type typeof undefined void while yield",
        ..PLAIN
    },
    Syntax {
        languages: &["rust", "Rust"],
        comments: &[("//", "\n")],
        // Omits the single quote, because in Rust it also begins a lifetime.
        quotes: &["\""],
        has_long_strings: true,
        keywords: "as async await break const continue crate else enum extern false fn for if impl in let loop match mod \
                   move mut pub ref return self Self static struct super trait true type unsafe use where while",
        ..PLAIN
    },
    Syntax {
        languages: &["go", "Go"],
        comments: &[("//", "\n")],
        quotes: &["\"", "'", "`"],
        keywords: "break case chan const continue default defer else false for func go if import interface map nil package \
                   range return select struct switch true type var",
        ..PLAIN
    },
    Syntax { languages: &["json"], keywords: JSON, ..PLAIN },
    Syntax {
        languages: &["toml", "yaml"],
        comments: &[("#", "\n")],
        quotes: &["\"", "'"],
        keywords: "true false",
        ..PLAIN
    },
    Syntax {
        languages: &["sql"],
        comments: &[("--", "\n")],
        quotes: &["'"],
        keywords: "ALTER AND BY CREATE DATABASE DELETE FROM GRANT GROUP IN INSERT INTO IS NOT NULL ON OR ORDER ROLE SELECT \
                   SET TABLE TO UPDATE VALUES WHERE WITH",
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the marks of code, with `[class|text]` for each.
    fn marked(language: &str, code: &str) -> String {
        let html = html(language, code).replace("<span class=\"", "[").replace("\">", "|");
        html.replace("</span>", "]").replace("&quot;", "\"").replace("&#39;", "'")
    }

    #[test]
    fn tokens_are_marked_by_their_kind() {
        for (language, code, expected) in [
            (
                "python",
                "x = open(\"a#b\", 1)  # c",
                "x = open([string|\"a#b\"], [number|1])  [comment|# c]",
            ),
            ("python", "from a import b\n", "[keyword|from] a [keyword|import] b\n"),
            ("python", "\"\"\"a\n\"b\"\n\"\"\"\nx", "[string|\"\"\"a\n\"b\"\n\"\"\"]\nx"),
            (
                "js",
                "a.of(`x\n${y}`) // z\n1",
                "a.of([string|`x\n${y}`]) [comment|// z]\n[number|1]",
            ),
            ("js", "/** a\n b */ new B()", "[comment|/** a\n b */] [keyword|new] B()"),
            ("rust", "fn a<'b>(x: &'b str) {}", "[keyword|fn] a<'b>(x: &'b str) {}"),
            ("sh", "curl a/#b -d '{\"x\":\n1}' \\", "curl a/#b -d [string|'{\"x\":\n1}'] \\"),
            ("sh", "'it'\\''s' # it's", "[string|'it']\\'[string|'s'] [comment|# it's]"),
            ("sh", "a \"$(b '(c' <<<\"$d\")\" e", "a [string|\"$(b '(c' <<<\"$d\")\"] e"),
            ("sh", "a --b-c d--e", "a [flag|--b-c] d--e"),
            (
                "json",
                "{\"a\": \"b\", \"c\": null}",
                "{\"a\": [string|\"b\"], \"c\": [keyword|null]}",
            ),
            ("yaml", "a: don't\nb: 2", "a: don't\nb: [number|2]"),
            ("text", "if 1 # x", "if 1 # x"),
        ] {
            let marked = marked(language, code)
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&");
            assert_eq!(marked, expected);
        }
    }

    #[test]
    fn marks_change_no_text() {
        let program = include_str!("../../docs/examples/opening/go/open.go");
        for syntax in &SYNTAXES {
            for language in syntax.languages {
                let html = html(language, program).replace("</span>", "");
                let plain = html
                    .split("<span class=\"")
                    .map(|part| part.split_once("\">").map_or(part, |(_, text)| text));
                assert_eq!(plain.collect::<String>(), escaped(program), "{language}");
            }
        }
    }
}
