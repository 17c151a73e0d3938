//! Checks the listening addresses. Each must be free, or in use by a running Sealpost server.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpListener},
};

use sealpost_node::{doctor::Finding, settings::HttpSettings};

use crate::http;

pub(super) fn check(settings: &HttpSettings) -> Vec<Finding> {
    let ops = settings.ops_listen;
    let is_running = ops.is_some_and(is_sealpost);
    let named = [("--listen", Some(settings.listen)), ("--ops-listen", ops)];
    let given = named.into_iter().filter_map(|(flag, address)| Some((flag, address?)));
    given.map(|(flag, address)| judge(flag, address, is_running)).collect()
}

fn judge(flag: &str, address: SocketAddr, is_running: bool) -> Finding {
    match TcpListener::bind(address) {
        Ok(_free) => Finding::ok("port", format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_running => {
            Finding::ok("port", format!("{address} is used by a running Sealpost server"))
        }
        Err(error) => Finding::fail(
            "port",
            format!("{address} cannot be bound ({error}): stop its user, or give another {flag}"),
        ),
    }
}

/// Returns true if the address serves the metrics of a Sealpost server.
fn is_sealpost(address: SocketAddr) -> bool {
    let response = http::request(address, "GET /metrics", "Accept: text/plain", "");
    response.is_ok_and(|response| {
        String::from_utf8_lossy(&response.body).contains("sealpost_build_info")
    })
}
