//! Command-line settings of the key-encryption keys.

use std::path::PathBuf;

use clap::{Args, builder::BoolishValueParser};
use sealpost_node::settings::{KeySettings, ProviderName};

use super::values::{Span, created_path};
use crate::{command_error::CommandError, kek};

/// The place of the key-encryption keys.
#[derive(Args, Clone)]
pub(crate) struct KekArgs {
    /// File of key-encryption keys; `DATA_DIR/kek` for an embedded database. `SEALPOST_KEK` can have the lines of the
    /// file instead, separated by commas
    #[arg(long, env = "SEALPOST_KEK_FILE", value_name = "FILE", value_parser = created_path())]
    pub(crate) kek_file: Option<PathBuf>,
    /// Provider that wraps (encrypts) the key-encryption keys, instead of a key file; the database stores the wrapped
    /// keys: `aws-kms:ARN?credentials_file=FILE`, `exec:COMMAND`, `pkcs11:LIBRARY?token=LABEL&key=LABEL&pin_file=FILE`,
    /// `quorum:ID` or `vault:URL?token_file=FILE`
    #[arg(long, env = "SEALPOST_KEK_PROVIDER", value_name = "PROVIDER")]
    pub(crate) kek_provider: Option<ProviderName>,
}

/// How a server uses its key provider.
#[derive(Args, Clone)]
pub(crate) struct ProviderArgs {
    /// Time between two requests to the key provider that ask whether the server may still use the keys. If the
    /// provider refuses, the server starts again within ten seconds, so that no key stays in its memory, and waits
    /// until the provider allows the keys again, as with --kek-wait
    #[arg(long = "kek-recheck", env = "SEALPOST_KEK_RECHECK", default_value_t = Span(KeySettings::default().recheck),
          value_name = "SPAN")]
    pub(crate) recheck: Span,
    /// How long a running server keeps the keys while the key provider cannot be reached, from the first failed request
    #[arg(long = "kek-grace", env = "SEALPOST_KEK_GRACE", default_value_t = Span(KeySettings::default().grace), value_name = "SPAN")]
    pub(crate) grace: Span,
    /// At start, wait until the key provider unwraps the keys, and respond 503 until then to all requests except /livez
    /// and, of a quorum, /kek/shares
    #[arg(long = "kek-wait", env = WAIT, value_parser = BoolishValueParser::new())]
    pub(crate) wait: bool,
}

impl ProviderArgs {
    /// Adds the values of these arguments to `keys`, the settings that already contain the source of the keys.
    pub(crate) fn settings(&self, keys: KeySettings) -> KeySettings {
        let Self { recheck, grace, wait } = self;
        KeySettings { recheck: recheck.0, grace: grace.0, wait: *wait, ..keys }
    }
}

impl KekArgs {
    /// Returns the settings of a server. Must be called only once per process: a second call finds no keys of
    /// `SEALPOST_KEK`.
    pub(crate) fn for_server(&self) -> Result<KeySettings, CommandError> {
        let Self { kek_file, kek_provider } = self;
        let (file, provider) = (kek_file.clone(), kek_provider.clone());
        let text = kek::variable::take()?;
        Ok(KeySettings { file, text, provider, ..KeySettings::default() })
    }
}

/// Converts the arguments of a command to settings. If the key provider is a quorum (a wrapping key that is split),
/// reads shares from standard input until they restore the key.
impl TryFrom<&KekArgs> for KeySettings {
    type Error = CommandError;

    fn try_from(args: &KekArgs) -> Result<Self, CommandError> {
        kek::shares::read_for(args.kek_provider.as_ref())?;
        args.for_server()
    }
}

/// The environment variable of `--kek-wait`.
pub(crate) const WAIT: &str = "SEALPOST_KEK_WAIT";
