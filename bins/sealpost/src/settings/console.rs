//! Command-line settings of the console: the operators, and the limits of their sign-ins.

use std::path::PathBuf;

use clap::Args;
use sealpost_node::settings::{AccessSettings, AdminSettings, ConsoleSettings};

use super::values::{Span, positive, url_text};

/// The settings of the console (web pages for operators) and of the API for operators.
#[derive(Args, Clone)]
#[command(next_help_heading = "Console")]
pub(super) struct ConsoleArgs {
    /// File of the operators, one line of `sealpost console hash` each, reloaded by SIGHUP; turns on /console and
    /// /admin/v1 on the operations address
    #[arg(
        id = "console-password-file",
        long = "console-password-file",
        env = "SEALPOST_CONSOLE_PASSWORD_FILE",
        value_name = "FILE"
    )]
    password_file: Option<PathBuf>,
    /// HTTPS URL at which a proxy serves the operations address; required for the console unless --ops-listen is
    /// loopback
    #[arg(
        id = "console-url",
        long = "console-url",
        env = "SEALPOST_CONSOLE_URL",
        value_name = "URL",
        value_parser = url_text
    )]
    url: Option<String>,
    /// Lifetime of a session in the console
    #[arg(
        id = "console-session-ttl", long = "console-session-ttl",
        env = "SEALPOST_CONSOLE_SESSION_TTL",
        default_value_t = Span(AccessSettings::default().session_ttl),
        value_name = "SPAN"
    )]
    session_ttl: Span,
    /// Sign-ins per minute of each operator from each client address; 0 turns the limit off
    #[arg(
        id = "console-sign-ins-per-minute", long = "console-sign-ins-per-minute",
        env = "SEALPOST_CONSOLE_SIGN_INS_PER_MINUTE",
        default_value_t = AdminSettings::default().sign_ins_per_minute,
        value_name = "N"
    )]
    sign_ins_per_minute: u32,
    /// Passwords of operators that are verified at the same time; each takes about 19 MiB
    #[arg(
        id = "console-verifications-max", long = "console-verifications-max",
        env = "SEALPOST_CONSOLE_VERIFICATIONS_MAX",
        default_value_t = AccessSettings::default().verifications_max,
        value_name = "N",
        value_parser = positive
    )]
    verifications_max: usize,
}

impl From<&ConsoleArgs> for ConsoleSettings {
    fn from(args: &ConsoleArgs) -> Self {
        let ConsoleArgs { password_file, url, session_ttl, sign_ins_per_minute, verifications_max } =
            args;
        Self {
            password_file: password_file.clone(),
            url: url.clone(),
            admin: AdminSettings {
                access: AccessSettings {
                    session_ttl: session_ttl.0,
                    verifications_max: *verifications_max,
                },
                sign_ins_per_minute: *sign_ins_per_minute,
            },
        }
    }
}
