//! Shortens the help of commands with the settings of a server. `--help` shows the settings that most operators need,
//! `--help-all` shows all.

use clap::Command;

/// Hides all settings of a server except the most important ones.
pub(super) fn shorten(command: Command) -> Command {
    COMMANDS.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |inner| {
            inner.mut_args(|argument| {
                let is_setting = argument.get_env().is_some();
                let is_shown = argument.get_long().is_some_and(|flag| SHOWN.contains(&flag));
                argument.hide(is_setting && !is_shown)
            })
        })
    })
}

/// Returns the flag with which a command, such as `sealpost serve`, shows the help on all its arguments.
pub(crate) fn help_flag(command: &str) -> &'static str {
    let name = command.strip_prefix("sealpost ").unwrap_or_default();
    if COMMANDS.contains(&name) { "--help-all" } else { "--help" }
}

/// The commands with the settings of a server.
const COMMANDS: [&str; 2] = ["serve", "doctor"];
/// The settings in the short help.
pub(super) const SHOWN: [&str; 10] = [
    "base-url",
    "behind-tls-proxy",
    "data-dir",
    "database-url",
    "dev",
    "kek-file",
    "listen",
    "ops-listen",
    "tls-cert",
    "tls-key",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn a_hint_names_the_help_with_all_settings() {
        for (command, flag) in [
            ("sealpost", "--help"),
            ("sealpost admin", "--help"),
            ("sealpost doctor", "--help-all"),
            ("sealpost serve", "--help-all"),
        ] {
            assert_eq!(help_flag(command), flag);
        }
    }

    #[test]
    fn the_short_help_shows_ten_existing_settings() {
        for name in COMMANDS {
            let command = shorten(cli::command());
            let arguments = command.find_subcommand(name).unwrap().get_arguments();
            let settings = arguments.filter(|argument| argument.get_env().is_some());
            let shown = settings.filter(|setting| !setting.is_hide_set());
            assert_eq!(shown.count(), SHOWN.len(), "{name}");
        }
    }
}
