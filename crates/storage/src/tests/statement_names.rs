//! Checks the names of hand-written statements, by which `pg_stat_statements` and logs show them.

use std::{fs, path::Path};

#[test]
fn each_hand_written_statement_begins_with_its_name() {
    let mut nameless = Vec::new();
    check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut nameless);
    assert!(nameless.is_empty(), "statements without /* name */: {nameless:#?}");
}

/// Adds the nameless statements of the files in a folder, except in tests.
fn check_folder(folder: &Path, nameless: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            check_folder(&path, nameless);
            continue;
        }
        let code = fs::read_to_string(&path).unwrap();
        let found = literals(&code).into_iter().filter(|literal| is_nameless(literal));
        nameless.extend(found.map(|literal| format!("{}: {literal}", path.display())));
    }
}

/// Returns the string literals of a file, without comments and unit tests.
fn literals(code: &str) -> Vec<String> {
    let code = code.split("mod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "").replace("'\"'", "");
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns whether one of the statements in a text begins with its verb, and not with a comment.
fn is_nameless(text: &str) -> bool {
    text.split(';').any(|statement| {
        let verb = statement.split_whitespace().next();
        verb.is_some_and(|verb| VERBS.contains(&verb))
    })
}

/// The first words of the statements that read or write rows.
const VERBS: [&str; 7] = ["ANALYZE", "DELETE", "INSERT", "SELECT", "UPDATE", "VACUUM", "WITH"];

#[test]
fn a_statement_without_a_name_is_found() {
    let code = r#"
        const FIRST: &str = "
            SELECT 1";
        let second = "/* second */ SELECT 2; DELETE FROM second";
        let named = "/* named */ WITH x AS (SELECT 1) SELECT * FROM x";
        // "SELECT 3"
    "#;
    let found = literals(code).into_iter().filter(|literal| is_nameless(literal));
    assert_eq!(found.count(), 2);
}
