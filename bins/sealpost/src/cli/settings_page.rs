//! Checks the page `docs/settings.md`, which lists all settings of a server.

use std::{fmt::Write as _, fs, path::Path};

use clap::Arg;

use super::{command, short_help};

/// To update the page, run `SEALPOST_WRITE_DOCS=1 cargo test -p sealpost settings_page`.
#[test]
fn the_page_of_the_settings_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let page = page();
    if std::env::var_os("SEALPOST_WRITE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == page,
        "docs/settings.md differs from the settings of sealpost serve; run: SEALPOST_WRITE_DOCS=1 cargo test -p sealpost \
         settings_page"
    );
}

#[test]
fn each_variable_has_the_name_of_its_flag() {
    let command = command();
    for setting in command.find_subcommand("serve").unwrap().get_arguments() {
        if let (Some(flag), Some(variable)) = (setting.get_long(), setting.get_env()) {
            let expected = format!("SEALPOST_{}", flag.replace('-', "_").to_uppercase());
            assert_eq!(variable.to_str(), Some(expected.as_str()));
        }
    }
}

fn page() -> String {
    let command = command();
    let serve = command.find_subcommand("serve").unwrap();
    let settings = serve.get_arguments().filter(|argument| argument.get_env().is_some());
    let (first, others): (Vec<_>, Vec<_>) = settings
        .partition(|setting| short_help::SHOWN.contains(&setting.get_long().unwrap_or_default()));
    let mut headings: Vec<&str> = Vec::new();
    for heading in others.iter().map(|setting| setting.get_help_heading().unwrap()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    let mut page = HEAD.to_owned();
    write_table(&mut page, "First settings", &first);
    for heading in headings {
        let group = others.iter().filter(|setting| setting.get_help_heading() == Some(heading));
        let group: Vec<_> = group.copied().collect();
        write_table(&mut page, heading, &group);
    }
    page
}

fn write_table(page: &mut String, heading: &str, settings: &[&Arg]) {
    write!(page, "\n## {heading}\n\n| setting | default | effect |\n|---|---|---|\n").unwrap();
    for setting in settings {
        let cells = [flag(setting), default(setting), effect(setting)];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        writeln!(page, "| {} |", cells.join(" | ")).unwrap();
    }
}

/// Returns the flag with the name of its value.
fn flag(setting: &Arg) -> String {
    let value = setting.get_value_names().and_then(|names| names.first());
    let value = value.filter(|_| setting.get_action().takes_values());
    let value = value.map(|value| format!(" {value}")).unwrap_or_default();
    format!("`--{}{value}`", setting.get_long().unwrap())
}

fn default(setting: &Arg) -> String {
    let values = setting.get_default_values().iter().map(|value| value.to_str().unwrap());
    let values: Vec<_> = values.filter(|_| setting.get_action().takes_values()).collect();
    if values.is_empty() { String::new() } else { format!("`{}`", values.join(",")) }
}

/// Returns the help text with the possible values.
fn effect(setting: &Arg) -> String {
    let help = setting.get_long_help().or(setting.get_help()).unwrap().to_string();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let possible = setting.get_possible_values();
    let possible: Vec<_> = possible.iter().map(|value| format!("`{}`", value.get_name())).collect();
    if possible.is_empty() || !setting.get_action().takes_values() {
        return help;
    }
    format!("{help}: {}", possible.join(", "))
}

const HEAD: &str = "\
# Settings

Each setting of `sealpost serve` is a flag and an environment variable: `--data-dir` is `SEALPOST_DATA_DIR`. A flag wins.
`sealpost serve --help` shows the first settings, and `sealpost serve --help-all` all of them. [Operating](operating.md) explains
how they work together. `sealpost doctor` checks them.

| value | written as |
|---|---|
| `SPAN` | a time with a unit, at most 100 years: `500ms`, `30s`, `5m`, `12h` or `30d` |
| `SIZE` | bytes with a unit: `16KiB`, `2MiB` or `10GiB`; without a unit, a number of bytes |
";
