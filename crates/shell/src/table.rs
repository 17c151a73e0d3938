//! Renders lists as text.

use std::io::{self, IsTerminal as _};

use sealpost_receiver::escape_control;

/// Returns one line for each row. On a terminal, the columns are aligned and have a header. Otherwise `separator` is
/// between the cells, so that scripts can split the lines. Control characters are escaped.
pub fn table(columns: &[&str], rows: &[Vec<String>], separator: &str) -> String {
    let escaped = rows.iter().map(|row| row.iter().map(|cell| escape_control(cell)).collect());
    let rows: Vec<Vec<String>> = escaped.collect();
    if io::stdout().is_terminal() { aligned(columns, rows) } else { joined(&rows, separator) }
}

fn joined(rows: &[Vec<String>], separator: &str) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(row.join(separator).trim_end());
        text.push('\n');
    }
    text
}

fn aligned(columns: &[&str], rows: Vec<Vec<String>>) -> String {
    let header = columns.iter().map(|name| name.to_uppercase()).collect();
    let rows: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let pad = |(cell, width): (&String, &usize)| format!("{cell:<width$}");
    let padded = rows.iter().map(|row| row.iter().zip(&widths).map(pad).collect());
    joined(&padded.collect::<Vec<Vec<String>>>(), "  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![row(["wh_1", "enabled,paused", ""]), row(["wh_22", "enabled", "x"])]
    }

    #[test]
    fn a_terminal_gets_a_header_and_aligned_columns() {
        let text = "ID     STATUS          NOTE\nwh_1   enabled,paused\nwh_22  enabled         x\n";
        assert_eq!(aligned(&["id", "status", "note"], rows()), text);
    }

    #[test]
    fn a_script_gets_cells_without_a_header_and_without_a_blank_at_the_end() {
        assert_eq!(joined(&rows(), " "), "wh_1 enabled,paused\nwh_22 enabled x\n");
    }
}
