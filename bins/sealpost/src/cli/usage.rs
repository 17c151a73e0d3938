//! Prints the help that clap returned, or one line for arguments that clap rejects. The line contains a suggestion and
//! the command whose help explains the arguments.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use sealpost_shell::tolerate_closed_pipe;

use super::command;
use crate::command_error::CommandError;

/// Prints the help or the error that clap returned:
///
/// - Requested help: prints the help, and returns status 0.
/// - A missing subcommand: prints the help, and returns status 2.
/// - Any other error: prints one line, and returns status 2.
pub(crate) fn report(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| io::stdout().flush());
        return match tolerate_closed_pipe(printed) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => CommandError::output(error).report(&invoked_command()),
        };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A failed print cannot be reported, because standard error is closed. The exit status still reports the wrong
        // usage.
        drop(error.print());
        return ExitCode::from(CommandError::WRONG_USAGE);
    }
    CommandError::usage(message(error)).report(&invoked_command())
}

/// Returns the command and subcommands that this process was called with, for example `sealpost admin key`.
pub(crate) fn invoked_command() -> String {
    command_words(std::env::args_os().skip(1))
}

/// Returns `sealpost` and the subcommands among the arguments. Skips flags and values.
fn command_words(arguments: impl Iterator<Item = OsString>) -> String {
    let (mut words, mut command) = ("sealpost".to_owned(), command());
    for argument in arguments {
        let Some(inner) = command.find_subcommand(&argument).cloned() else { continue };
        words.push(' ');
        words.push_str(inner.get_name());
        command = inner;
    }
    words
}

/// Returns the error as one line. Appends the most similar valid name, if clap suggests one.
fn message(error: &clap::Error) -> String {
    if let Some(variable) = empty_variable(error) {
        return format!("the variable {variable} is empty: give a value, or unset the variable");
    }
    let mut text = error.to_string();
    if let Some((flag, value)) = invalid_value(error)
        && has_url(&command(), flag)
    {
        // Removes the value from the message, because a URL may contain a password, and standard error often ends up in
        // a log.
        text = text.replace(&format!(" '{value}'"), "");
    }
    let lines = text.lines().map(str::trim);
    let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with("Usage:"));
    let line = lines.collect::<Vec<_>>().join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    suggestion(error)
        .map_or_else(|| line.to_owned(), |name| format!("{line} (did you mean '{name}'?)"))
}

/// Returns the name of the environment variable if an empty variable caused the error. The error of clap names only the
/// flag.
fn empty_variable(error: &clap::Error) -> Option<String> {
    let (flag, value) = invalid_value(error)?;
    let name = variable_of(&command(), flag).filter(|_| value.is_empty())?;
    std::env::var_os(&name).filter(|value| value.is_empty())?;
    Some(name.to_string_lossy().into_owned())
}

/// Returns the flag with an invalid value, without `--`, and the value.
fn invalid_value(error: &clap::Error) -> Option<(&str, &str)> {
    match (error.get(ContextKind::InvalidArg)?, error.get(ContextKind::InvalidValue)?) {
        (ContextValue::String(argument), ContextValue::String(value)) => {
            Some((argument.split(' ').next()?.strip_prefix("--")?, value))
        }
        _ => None,
    }
}

/// Returns true if the value of `flag` is or contains a URL, which may contain a password. Searches the command and its
/// subcommands for the flag.
fn has_url(command: &Command, flag: &str) -> bool {
    let is_url = |argument: &Arg| {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().any(|name| name.contains("URL") || *name == "PROVIDER")
    };
    let mut own = command.get_arguments().filter(|argument| argument.get_long() == Some(flag));
    own.any(is_url) || command.get_subcommands().any(|inner| has_url(inner, flag))
}

/// Returns the environment variable of `flag`. Searches the command and its subcommands for the flag.
fn variable_of(command: &Command, flag: &str) -> Option<OsString> {
    let own = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
    let own = own.and_then(|argument| argument.get_env()).map(OsStr::to_owned);
    own.or_else(|| command.get_subcommands().find_map(|inner| variable_of(inner, flag)))
}

fn suggestion(error: &clap::Error) -> Option<&str> {
    let kinds =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    match kinds.into_iter().find_map(|kind| error.get(kind))? {
        ContextValue::String(name) => Some(name),
        // clap sorts suggestions by similarity, with the most similar name last.
        ContextValue::Strings(names) => names.last().map(String::as_str),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of(arguments: &str) -> String {
        let parsed = command().try_get_matches_from(arguments.split(' '));
        message(&parsed.unwrap_err())
    }

    #[test]
    fn an_unknown_name_gets_the_most_similar_name() {
        for (arguments, name) in [
            ("sealpost serv", "serve"),
            ("sealpost admin partnr suspend", "partner"),
            ("sealpost serve --lissten 127.0.0.1:0", "--listen"),
            ("sealpost serve --suite hibrid", "hybrid"),
        ] {
            let message = message_of(arguments);
            assert!(message.ends_with(&format!(" (did you mean '{name}'?)")), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
        assert!(!message_of("sealpost xyzzy").contains("did you mean"));
    }

    #[test]
    fn the_value_of_a_url_is_not_repeated() {
        for arguments in [
            "serve --otlp-endpoint https://u:secret@otlp.example",
            "serve --otlp-endpoint=https://otlp.example/?key=secret",
            "serve --log-witness secret@witness.example",
            "serve --kek-provider vault:http://u:secret@vault.example/transit/key",
            "serve --database-url mysql://u:secret@db.example/x",
            "listen --forward-to ftp://u:secret@127.0.0.1:3000/hook",
        ] {
            let message = message_of(&format!("sealpost {arguments}"));
            assert!(message.contains("invalid value for '--"), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn a_hint_names_the_invoked_command() {
        for (arguments, words) in [
            ("", "sealpost"),
            ("--json", "sealpost"),
            ("serve --dev", "sealpost serve"),
            ("admin --data-dir x key shov", "sealpost admin key"),
        ] {
            let arguments = arguments.split(' ').map(OsString::from);
            assert_eq!(command_words(arguments), words);
        }
    }
}
