//! Checks the listening addresses. Each must be free, or in use by a running Sealpost server.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpListener},
};

use sealpost_node::{bind_advice, doctor::Finding, settings::HttpSettings};

use crate::http;

pub(super) fn check(settings: &HttpSettings) -> Vec<Finding> {
    let ops = settings.ops_listen;
    let is_running = match ops {
        Some(ops) => responds(ops, "GET /metrics", &["sealpost_build_info", WAITING]),
        None => responds(settings.listen, "GET /v1/doctor", &["/docs/errors/"]),
    };
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
            format!("{flag} {address} cannot be bound ({error}): {}", bind_advice(&error)),
        ),
    }
}

/// Returns true if the response from `address` contains one of `texts`. Each text identifies a Sealpost server.
fn responds(address: SocketAddr, method_and_path: &str, texts: &[&str]) -> bool {
    let response = http::request(address, method_and_path, "Accept: text/plain", "");
    response.is_ok_and(|response| {
        let body = String::from_utf8_lossy(&response.body);
        texts.iter().any(|text| body.contains(text))
    })
}

/// The response of a server that waits for its key provider.
const WAITING: &str = "waiting for the key provider";
