//! Renders tables. On a narrow screen, the stylesheet shows each row as a card, in which each cell needs the name of
//! its column.

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::docs::markup::escaped;

/// Puts each table into a region that scrolls, and adds the names of the columns to the cells.
///
/// The first cell of a row is the title of the row's card, and needs no name. In a table of two columns, the second
/// cell needs no name either.
pub(super) fn render(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut rendered = Vec::with_capacity(events.len());
    let mut columns: Vec<String> = Vec::new();
    let (mut is_head, mut number) = (false, 0);
    for event in events {
        match &event {
            Event::Start(Tag::Table(_)) => rendered.push(Event::Html(TABLE_START.into())),
            Event::Start(Tag::TableHead) => (is_head, columns) = (true, Vec::new()),
            Event::End(TagEnd::TableHead) => is_head = false,
            Event::Start(Tag::TableRow) => number = 0,
            Event::Start(Tag::TableCell) if is_head => columns.push(String::new()),
            Event::Text(text) | Event::Code(text) if is_head => {
                columns.iter_mut().last().into_iter().for_each(|name| name.push_str(text));
            }
            // A long list, such as a retry schedule, may continue in the next line.
            Event::Code(text) if !columns.is_empty() && text.contains(',') => {
                let code = escaped(text).replace(',', ",<wbr>");
                rendered.push(Event::Html(format!("<code>{code}</code>").into()));
                continue;
            }
            Event::Start(Tag::TableCell) => {
                let name = columns
                    .get(number)
                    .filter(|name| number > 0 && columns.len() > 2 && !name.is_empty());
                number += 1;
                if let Some(name) = name {
                    let cell = format!("<td data-label=\"{}\">", escaped(name));
                    rendered.push(Event::Html(cell.into()));
                    continue;
                }
            }
            _ => {}
        }
        let is_end = event == Event::End(TagEnd::Table);
        rendered.push(event);
        if is_end {
            columns.clear();
            rendered.push(Event::Html("</div>\n".into()));
        }
    }
    rendered
}

const TABLE_START: &str =
    "<div class=\"table\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">";

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Options, Parser, html};

    use super::*;

    #[test]
    fn cells_of_more_than_two_columns_have_the_names_of_their_columns() {
        let markdown = "| plan | per `day` | |\n|---|---|---|\n| a | 1 | 2 |\n\n`5,6`\n\n| x | y |\n|---|---|\n| 3 | `5,6` |\n";
        let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES);
        let mut page = String::new();
        html::push_html(&mut page, render(parser.collect()).into_iter());
        let row = "<tr><td>a</td><td data-label=\"per day\">1</td><td>2</td></tr>";
        assert!(page.contains(row) && page.contains("<p><code>5,6</code></p>"), "{page}");
        assert!(page.contains("<tr><td>3</td><td><code>5,<wbr>6</code></td></tr>"), "{page}");
        assert_eq!(page.matches("<div class=\"table\"").count(), 2, "{page}");
        assert_eq!(page.matches("</div>").count(), 2, "{page}");
    }
}
