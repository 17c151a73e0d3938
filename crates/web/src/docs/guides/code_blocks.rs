//! Renders code blocks. Blocks of several languages that follow each other become tabs.

use std::{fmt::Write as _, mem};

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use crate::docs::highlight;

/// Replaces the code blocks by HTML.
pub(super) fn render(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut rendered = Vec::with_capacity(events.len());
    let mut run = BlockRun::default();
    let mut open: Option<CodeBlock> = None;
    for event in events {
        match (&mut open, event) {
            (_, Event::Start(Tag::CodeBlock(kind))) => open = Some(CodeBlock::new(&kind)),
            (Some(block), Event::Text(code)) => block.code.push_str(&code),
            (_, Event::End(TagEnd::CodeBlock)) => {
                let html = open.take().map(|block| run.push(block)).unwrap_or_default();
                rendered.push(Event::Html(html.into()));
            }
            (_, event) => {
                rendered.push(Event::Html(run.finish().into()));
                rendered.push(event);
            }
        }
    }
    rendered.push(Event::Html(run.finish().into()));
    rendered
}

/// A code block of a guide.
struct CodeBlock {
    language: String,
    code: String,
}

impl CodeBlock {
    fn new(kind: &CodeBlockKind<'_>) -> Self {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split(' ').next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        Self { language: language.to_owned(), code: String::new() }
    }

    /// Returns the name of the block's tab. `None` if the block cannot be in a tab.
    fn tab(&self) -> Option<&'static str> {
        TABS.iter().find(|(language, _)| *language == self.language).map(|(_, name)| *name)
    }

    /// Returns the block as HTML, with `name` in a line above the code. A block in the language `text` shows output, so
    /// it has no such line and no button to copy.
    fn html(&self, name: &str) -> String {
        let code = highlight::html(&self.language, &dedented(&self.code));
        if self.language == "text" {
            return format!("<pre class=\"output\" tabindex=\"0\"><code>{code}</code></pre>\n");
        }
        let name = if name.is_empty() { String::new() } else { format!("<span>{name}</span>") };
        let wrap = if WRAPPED.contains(&&*self.language) { " class=\"wrap\"" } else { "" };
        format!(
            "<div class=\"code-frame\"><p class=\"code-head\">{name}</p>\n\
             <pre{wrap} tabindex=\"0\"><code>{code}</code></pre></div>\n"
        )
    }

    /// Returns the name of the block outside of tabs. Empty for an unknown language.
    fn name(&self) -> &'static str {
        let known = NAMES.iter().find(|(language, _)| *language == self.language);
        known.map(|(_, name)| *name).or(self.tab()).unwrap_or_default()
    }
}

/// Removes the indentation that all lines have in common. Excerpts of programs have such an indentation.
fn dedented(code: &str) -> String {
    let lines = code.lines().filter(|line| !line.trim().is_empty());
    let indent = lines.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let line = |line: &str| line.get(indent..).unwrap_or_default().to_owned() + "\n";
    code.lines().map(line).collect()
}

/// A run: consecutive code blocks with nothing between them, which become the tabs of one group.
#[derive(Default)]
struct BlockRun {
    blocks: Vec<CodeBlock>,
    /// The number of groups of tabs so far, for ids that are unique on the page.
    groups: usize,
}

impl BlockRun {
    /// Adds a block, and returns an empty text, if the block fits into the tabs of the blocks before it. Otherwise
    /// returns the HTML of those blocks, and starts a new run with the block.
    fn push(&mut self, block: CodeBlock) -> String {
        let fits =
            |previous: &CodeBlock| previous.tab().is_some() && previous.language != block.language;
        // A shell block after a program shows how to run this program, and is therefore no tab of the same group.
        let is_tab =
            block.tab().is_some() && block.language != "sh" && self.blocks.iter().all(fits);
        let html = if is_tab { String::new() } else { self.finish() };
        self.blocks.push(block);
        html
    }

    /// Returns the HTML of the blocks since the last call, and starts a new run.
    fn finish(&mut self) -> String {
        let blocks = mem::take(&mut self.blocks);
        let names: Vec<_> = blocks.iter().filter_map(CodeBlock::tab).collect();
        if blocks.len() < 2 || names.len() < blocks.len() {
            return blocks.iter().map(|block| block.html(block.name())).collect();
        }
        self.groups += 1;
        let group = self.groups;
        let mut html = "<div class=\"tabs\" role=\"group\" aria-label=\"Language\">\n".to_owned();
        for (number, name) in names.into_iter().enumerate() {
            let id = format!("tab-{group}-{number}");
            let checked = if number == 0 { " checked" } else { "" };
            // Writing to a string cannot fail.
            write!(html, "<input type=\"radio\" name=\"tabs-{group}\" id=\"{id}\"{checked}>")
                .and_then(|()| writeln!(html, "<label for=\"{id}\">{name}</label>"))
                .unwrap_or_default();
        }
        let panels =
            blocks.iter().map(|block| format!("<div class=\"panel\">{}</div>\n", block.html("")));
        html.extend(panels);
        html + "</div>\n"
    }
}

/// The languages that can be in tabs, with the names of their tabs.
const TABS: [(&str, &str); 5] =
    [("sh", "curl"), ("python", "Python"), ("js", "TypeScript"), ("rust", "Rust"), ("go", "Go")];
/// The names of languages outside of tabs. Lists only languages that have another name on their tab, or no tab.
const NAMES: [(&str, &str); 5] =
    [("sh", "Shell"), ("json", "JSON"), ("toml", "TOML"), ("sql", "SQL"), ("yaml", "YAML")];
/// The languages whose long lines continue in the next line. Lines of other languages keep their shape.
const WRAPPED: [&str; 3] = ["sh", "json", "sql"];

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Parser, html};

    use super::*;

    fn rendered(languages: &[&str]) -> String {
        let block = |language: &&str| format!("```{language}\nx\n```\n\n");
        let markdown: String = languages.iter().map(block).collect();
        let mut page = String::new();
        html::push_html(&mut page, render(Parser::new(&markdown).collect()).into_iter());
        page
    }

    #[test]
    fn the_indentation_of_all_lines_is_removed() {
        assert_eq!(dedented("    a\n\n      b\n    c\n"), "a\n\n  b\nc\n");
        assert_eq!(dedented("{\n  a\n}\n"), "{\n  a\n}\n");
    }

    #[test]
    fn blocks_of_different_languages_become_tabs() {
        for (languages, groups, tabs) in [
            (&["python"][..], 0, 0),
            (&["sh", "text"], 0, 0),
            (&["sh", "python", "js", "rust", "text"], 1, 4),
            (&["python", "js", "python", "rust"], 2, 4),
            // A command with its output, and then programs.
            (&["sh", "text", "python", "js"], 1, 2),
            // A program and the command that runs it.
            (&["python", "sh", "text"], 0, 0),
        ] {
            let html = rendered(languages);
            assert_eq!(html.matches("class=\"tabs\"").count(), groups, "{languages:?}: {html}");
            assert_eq!(html.matches("<label").count(), tabs, "{languages:?}: {html}");
            assert_eq!(html.matches("<pre").count(), languages.len(), "{languages:?}: {html}");
            assert_eq!(html.matches(" checked").count(), groups, "{languages:?}: {html}");
        }
    }
}
