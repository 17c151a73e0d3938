//! Command-line settings of the HTTP servers: addresses, TLS, threads, connections and timeouts.

use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr};

use clap::{Args, builder::BoolishValueParser};
use sealpost_node::settings::{HttpSettings, TlsFiles};

use super::values::{Size, Span, positive, url_text};

/// The settings of the HTTP servers.
#[derive(Args, Clone)]
#[command(next_help_heading = "HTTP")]
pub(super) struct HttpArgs {
    /// Address of the API; port 0 selects a free port
    #[arg(long, env = "SEALPOST_LISTEN", default_value_t = HttpSettings::default().listen, value_name = "ADDR")]
    listen: SocketAddr,
    /// Address of /metrics, /livez and /readyz, or `off`
    #[arg(
        long,
        env = "SEALPOST_OPS_LISTEN",
        default_value_t = OpsListen(HttpSettings::default().ops_listen),
        value_name = "ADDR"
    )]
    ops_listen: OpsListen,
    /// URL that callers use; if omitted, the listening address
    #[arg(long, env = "SEALPOST_BASE_URL", value_name = "URL", value_parser = url_text)]
    base_url: Option<String>,
    /// PEM file with the server's certificate first, then the intermediate certificates
    #[arg(long, env = "SEALPOST_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the private key of the certificate; SIGHUP reloads both files
    #[arg(long, env = "SEALPOST_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A proxy in front of the server terminates TLS
    #[arg(long, env = "SEALPOST_BEHIND_TLS_PROXY", value_parser = BoolishValueParser::new())]
    behind_tls_proxy: bool,
    /// Threads that serve requests, at most 512; if omitted, the number of cores
    #[arg(
        long,
        env = "SEALPOST_WORKERS",
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=i64::from(HttpSettings::WORKERS_MAX))
    )]
    workers: Option<u16>,
    /// Largest number of connections per thread; more than --max-anonymous-connections
    #[arg(
        long,
        env = "SEALPOST_MAX_CONNECTIONS",
        default_value_t = HttpSettings::default().max_connections,
        value_name = "N"
    )]
    max_connections: usize,
    /// Largest number of connections, on all threads, that have not authenticated; a further connection closes the
    /// oldest one. Trusted proxies are not limited
    #[arg(
        long,
        env = "SEALPOST_MAX_ANONYMOUS_CONNECTIONS",
        default_value_t = HttpSettings::default().max_anonymous_connections,
        value_name = "N",
        value_parser = positive
    )]
    max_anonymous_connections: usize,
    /// Largest number of connections of one client address that have not authenticated
    #[arg(
        long,
        env = "SEALPOST_MAX_ANONYMOUS_CONNECTIONS_PER_ADDRESS",
        default_value_t = HttpSettings::default().max_anonymous_connections_per_address,
        value_name = "N",
        value_parser = positive
    )]
    max_anonymous_connections_per_address: usize,
    /// Time for the TLS handshake of a connection
    #[arg(
        long,
        env = "SEALPOST_TLS_HANDSHAKE_TIMEOUT",
        default_value_t = Span(HttpSettings::default().tls_handshake_timeout),
        value_name = "SPAN"
    )]
    tls_handshake_timeout: Span,
    /// Largest head of a request (request line and headers)
    #[arg(
        long,
        env = "SEALPOST_MAX_HEAD_BYTES",
        default_value_t = Size(HttpSettings::default().max_head_bytes),
        value_name = "SIZE",
        value_parser = head_bytes
    )]
    max_head_bytes: Size<usize>,
    /// Time after which a connection is closed if no byte of a response was sent; must exceed the time of slow requests
    /// and --body-timeout
    #[arg(
        long,
        env = "SEALPOST_CONNECTION_TIMEOUT",
        default_value_t = Span(HttpSettings::default().connection_timeout),
        value_name = "SPAN"
    )]
    connection_timeout: Span,
}

/// Parses the maximum size of a request head. The HTTP library does not support 128 KiB or more.
fn head_bytes(text: &str) -> Result<Size<usize>, String> {
    match text.parse()? {
        size @ Size(1024..131_072) => Ok(size),
        Size(_) => Err("give a size from 1KiB to 127KiB".to_owned()),
    }
}

/// The address of the metrics and health checks. `None`, written as `off`, means that no such server is started.
#[derive(Clone, Copy)]
struct OpsListen(Option<SocketAddr>);

impl FromStr for OpsListen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("off") {
            return Ok(Self(None));
        }
        let address = text.parse().map_err(|_no_address| "give ADDRESS:PORT or off")?;
        Ok(Self(Some(address)))
    }
}

impl fmt::Display for OpsListen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(f, "{address}"),
            None => f.write_str("off"),
        }
    }
}

impl From<&HttpArgs> for HttpSettings {
    fn from(args: &HttpArgs) -> Self {
        let HttpArgs {
            listen,
            ops_listen,
            base_url,
            tls_cert,
            tls_key,
            behind_tls_proxy,
            workers,
            max_connections,
            max_anonymous_connections,
            max_anonymous_connections_per_address,
            tls_handshake_timeout,
            max_head_bytes,
            connection_timeout,
        } = args;
        let files = tls_cert.clone().zip(tls_key.clone());
        Self {
            listen: *listen,
            ops_listen: ops_listen.0,
            base_url: base_url.clone(),
            tls: files.map(|(chain, key)| TlsFiles { chain, key }),
            behind_tls_proxy: *behind_tls_proxy,
            workers: *workers,
            max_connections: *max_connections,
            max_anonymous_connections: *max_anonymous_connections,
            max_anonymous_connections_per_address: *max_anonymous_connections_per_address,
            tls_handshake_timeout: tls_handshake_timeout.0,
            max_head_bytes: max_head_bytes.0,
            connection_timeout: connection_timeout.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operations_address_can_be_off_in_upper_and_lower_case() {
        for word in ["off", "OFF", "Off"] {
            assert_eq!(word.parse::<OpsListen>().unwrap().0, None);
        }
        assert!("offline".parse::<OpsListen>().is_err());
    }
}
