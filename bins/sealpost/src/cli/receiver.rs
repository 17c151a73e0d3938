//! The arguments of `sealpost verify`, `sealpost verify-proof`, `sealpost witness` and `sealpost listen`, the commands
//! of receivers and verifiers.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;
use sealpost_domain::WebhookId;
use sealpost_receiver::{Uri, VerifyingKey};
use sealpost_shell::ProfileArgs;
use sealpost_transparency::VerifierKey;

use crate::settings::Span;

/// The keys that verify events. Secrets are never arguments, because every user of a machine can list the arguments of
/// processes.
#[derive(Args)]
pub(crate) struct KeyArgs {
    /// File with the whsec_ secret of the webhook, one per line during a rotation; repeatable.
    /// `SEALPOST_WEBHOOK_SECRET` can have the secrets instead, separated by commas
    #[arg(long = "secret-file", value_name = "FILE", help_heading = KEYS)]
    pub(crate) secret_files: Vec<PathBuf>,
    /// Public key of the service, for v1a signatures; repeatable
    #[arg(long = "public-key", value_name = "WHPK", value_delimiter = ',', help_heading = KEYS)]
    pub(crate) public_keys: Vec<VerifyingKey>,
    /// File with the service's /.well-known/did.json, which contains its public keys; repeatable
    #[arg(long = "did-json", value_name = "FILE", help_heading = KEYS)]
    pub(crate) did_documents: Vec<PathBuf>,
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// File with the headers, in the format of `curl -D` or of a raw HTTP request
    #[arg(long, value_name = "FILE")]
    pub(crate) headers: PathBuf,
    /// File with the body, byte for byte
    #[arg(long, value_name = "FILE")]
    pub(crate) body: PathBuf,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// Time of receipt in Unix seconds; if omitted, now
    #[arg(long, value_name = "UNIX_SECONDS")]
    pub(crate) at: Option<i64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct VerifyProofArgs {
    /// File with the proof: a proof file, evidence, or the bytes of a COSE receipt
    #[arg(value_name = "FILE")]
    pub(crate) proof: PathBuf,
    /// File with the trusted log and its witnesses (c2sp.org/tlog-policy). A line `max-age SECONDS` bounds the age of
    /// cosignatures
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: PathBuf,
    /// Time of the check in Unix seconds; if omitted, now
    #[arg(long, value_name = "UNIX_SECONDS")]
    pub(crate) at: Option<i64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct WitnessArgs {
    /// Name of the witness: a URL without its scheme, such as witness.example.org
    #[arg(long, value_name = "NAME", value_parser = witness_name)]
    pub(crate) name: String,
    /// Folder of the two keys (Ed25519 and ML-DSA-44), which are created at the first start, and of the cosigned
    /// checkpoints. Never restore it from a backup: begin a new witness with another name instead
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Address to listen on; port 0 selects a free port
    #[arg(long, default_value = "127.0.0.1:7380", value_name = "ADDR")]
    pub(crate) listen: SocketAddr,
    /// Public key of a log whose checkpoints are cosigned, from GET /log/; repeatable
    #[arg(long = "log", value_name = "KEY", value_parser = log_key, required = true)]
    pub(crate) logs: Vec<VerifierKey>,
}

#[derive(Args)]
pub(crate) struct ListenArgs {
    /// URL of the application on this machine that gets every valid event; its status becomes the response. If omitted,
    /// valid events are only printed, with the response 204
    #[arg(long, value_name = "URL", value_parser = local_url)]
    pub(crate) forward_to: Option<Uri>,
    /// Time in which the application must respond; it should be shorter than the sender's timeout, which is 15 s by
    /// default
    #[arg(long, default_value_t = Span(Duration::from_secs(14)), value_name = "SPAN")]
    pub(crate) forward_timeout: Span,
    /// Loopback address to listen on; port 0 selects a free port
    #[arg(long, default_value = "127.0.0.1:4040", value_name = "ADDR", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// Register a webhook for the profile's API key, and delete it at the end. The service must run on this machine
    /// with --dev
    #[arg(long)]
    pub(crate) register: bool,
    /// Connect to the service instead of listening, so that this machine needs no public address. Registers a webhook
    /// for the profile's API key, and deletes it at the end. A response header
    /// `webhook-delivery` of the application that --forward names has no effect
    #[arg(long, conflicts_with_all = ["listen", "register"])]
    pub(crate) relay: bool,
    /// Webhook with the URL `relay:` to use instead of a new one. Its secret is read like other keys
    #[arg(long, value_name = "WEBHOOK", requires = "relay")]
    pub(crate) webhook: Option<WebhookId>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the name of a witness: a URL without its scheme. Rejects a scheme, because the name of a witness cannot be
/// changed later.
fn witness_name(text: &str) -> Result<String, String> {
    match text.split_once("://") {
        Some((_, rest)) => Err(format!("give the URL without its scheme: {rest}")),
        None => Ok(text.to_owned()),
    }
}

/// Parses a public key of a log.
fn log_key(text: &str) -> Result<VerifierKey, String> {
    let key = VerifierKey::parse(text).map_err(|fault| fault.to_string())?;
    let is_log = !key.signature_type().is_of_witness();
    is_log.then_some(key).ok_or_else(|| "this is the key of a witness, not of a log".to_owned())
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

const KEYS: &str = "Keys (at least one)";

#[cfg(test)]
mod tests {
    use super::witness_name;

    #[test]
    fn the_name_of_a_witness_has_no_scheme() {
        assert_eq!(witness_name("w.example/a"), Ok("w.example/a".to_owned()));
        let advice = "give the URL without its scheme: w.example/a".to_owned();
        assert_eq!(witness_name("https://w.example/a"), Err(advice));
    }
}
