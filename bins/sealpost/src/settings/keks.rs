//! Command-line settings of the key-encryption keys.

use std::path::PathBuf;

use clap::Args;
use sealpost_node::settings::{KeySettings, ProviderName};

use crate::{fault::Fault, kek};

/// The place of the key-encryption keys.
#[derive(Args, Clone)]
pub(crate) struct KekArgs {
    /// File of key-encryption keys; `DATA_DIR/kek` for an embedded database. `SEALPOST_KEK` can have the lines of the
    /// file instead, separated by commas
    #[arg(long, env = "SEALPOST_KEK_FILE", value_name = "FILE")]
    pub(crate) kek_file: Option<PathBuf>,
    /// Provider that wraps the key-encryption keys, which the database then stores, instead of a key file:
    /// `aws-kms:ARN?credentials_file=FILE`, `exec:COMMAND` or `vault:URL?token_file=FILE`
    #[arg(long, env = "SEALPOST_KEK_PROVIDER", value_name = "PROVIDER")]
    pub(crate) kek_provider: Option<ProviderName>,
}

/// Must be converted only once, because `SEALPOST_KEK` can be read only once.
impl TryFrom<&KekArgs> for KeySettings {
    type Error = Fault;

    fn try_from(args: &KekArgs) -> Result<Self, Fault> {
        let KekArgs { kek_file, kek_provider } = args;
        let (file, provider) = (kek_file.clone(), kek_provider.clone());
        Ok(Self { file, text: kek::variable::take()?, provider })
    }
}
