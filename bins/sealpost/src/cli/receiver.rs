//! The commands for those who receive notices.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use sealpost_receiver::{Uri, VerifyingKey};

/// What notices are verified with. Secrets are never arguments, since everybody on a machine may list those.
#[derive(Args)]
pub(crate) struct KeyArgs {
    /// File with the whsec_ secret of the webhook, one a line while it rotates; repeatable.
    /// `SEALPOST_WEBHOOK_SECRET` may hold the same, comma-separated
    #[arg(long = "secret-file", value_name = "FILE", help_heading = KEYS)]
    pub(crate) secret_files: Vec<PathBuf>,
    /// Public key of the service, for v1a signatures; repeatable
    #[arg(long = "public-key", value_name = "WHPK", value_delimiter = ',', help_heading = KEYS)]
    pub(crate) public_keys: Vec<VerifyingKey>,
    /// File with what the service answers at /.well-known/did.json: its public keys
    #[arg(long = "did-json", value_name = "FILE", help_heading = KEYS)]
    pub(crate) did_documents: Vec<PathBuf>,
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// File with the headers, as `curl -D` or the head of a raw HTTP request has them
    #[arg(long, value_name = "FILE")]
    pub(crate) headers: PathBuf,
    /// File with the body, byte for byte
    #[arg(long, value_name = "FILE")]
    pub(crate) body: PathBuf,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// When it was received, in Unix seconds; now when not given
    #[arg(long, value_name = "UNIX_SECONDS")]
    pub(crate) at: Option<i64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ListenArgs {
    /// The application that gets every notice which is to be believed; its status answers the service. Without it
    /// notices are printed and answered with 204
    #[arg(long, value_name = "URL", value_parser = local_url)]
    pub(crate) forward_to: Option<Uri>,
    /// How long the application may take; a service itself waits 15 s unless it is set otherwise
    #[arg(long, default_value = "14s", value_name = "SPAN",
          value_parser = humantime::parse_duration)]
    pub(crate) forward_timeout: Duration,
    /// Loopback address to receive on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:4040", value_name = "ADDR", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

fn local_url(text: &str) -> Result<Uri, String> {
    let uri: Option<Uri> = text.parse().ok();
    let is_usable = |uri: &Uri| uri.scheme_str() == Some("http") && uri.host().is_some();
    uri.filter(is_usable).ok_or_else(|| {
        "give an http URL of this machine, such as http://127.0.0.1:3000/hook".to_owned()
    })
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.parse().ok();
    address
        .filter(|address| address.ip().is_loopback())
        .ok_or_else(|| "give a loopback ADDRESS:PORT, such as 127.0.0.1:4040".to_owned())
}

const KEYS: &str = "Keys, of which there must be one";
