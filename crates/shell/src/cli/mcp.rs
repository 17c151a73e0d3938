//! The arguments of `sealpost mcp`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use sealpost_mcp::ToolName;

use super::ProfileArgs;

/// The identity, the tools and the transport of an agent.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Tool that the agent may use; repeatable, or separated by commas. All tools if omitted: activate, find, open,
    /// policy, receipt, reply, send, sent, wait and whoami
    #[arg(long = "allow", value_name = "TOOL", value_delimiter = ',', value_parser = tool)]
    pub(crate) allowed: Vec<ToolName>,
    /// Serve Streamable HTTP at this address instead of standard input and output; port 0 selects a free port
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// File with the token that each HTTP request must carry, readable only by its owner. Without it, all programs of
    /// this machine can use the tools
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) token_file: Option<PathBuf>,
    /// https URL of a TLS proxy in front of --listen. Needed, like --token-file, for an address that is not loopback
    #[arg(long = "public-url", value_name = "URL", requires = "listen", value_parser = public_host)]
    pub(crate) public_host: Option<String>,
    /// URL of the service, if the profile does not exist. Then the tool activate creates the profile
    #[arg(long)]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

fn tool(name: &str) -> Result<ToolName, String> {
    ToolName::from_name(name).ok_or_else(|| {
        let known: Vec<_> = ToolName::ALL.into_iter().map(ToolName::short).collect();
        format!("give one of {}", known.join(", "))
    })
}

/// Parses an https URL without a path, and returns its host and port.
fn public_host(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").map(|rest| rest.trim_end_matches('/'));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']) => {
            Ok(host.to_owned())
        }
        _ => Err("give an https URL without a path, such as https://tools.example".to_owned()),
    }
}
