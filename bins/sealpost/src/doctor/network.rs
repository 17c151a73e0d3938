//! The addresses: whether they are free, or taken by a server that runs already.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use sealpost_node::HttpSettings;

use crate::doctor::finding::Finding;

pub(super) fn look(http: &HttpSettings) -> Vec<Finding> {
    let ops = http.ops_listen;
    let is_running = ops.is_some_and(is_sealpost);
    let named = [("--listen", Some(http.listen)), ("--ops-listen", ops)];
    let given = named.into_iter().filter_map(|(flag, address)| Some((flag, address?)));
    given.map(|(flag, address)| judge(flag, address, is_running)).collect()
}

fn judge(flag: &str, address: SocketAddr, is_running: bool) -> Finding {
    match TcpListener::bind(address) {
        Ok(_free) => Finding::ok("port", format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_running => {
            Finding::ok("port", format!("{address} is taken by a sealpost that runs"))
        }
        Err(error) => Finding::fail(
            "port",
            format!(
                "{address} cannot be listened on ({error}); stop what does, or give another {flag}"
            ),
        ),
    }
}

/// Whether somebody there answers as the ops address of a server does.
fn is_sealpost(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut socket = TcpStream::connect_timeout(&address, PATIENCE)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut answer = Vec::new();
        socket.take(ANSWER_MAX).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    ask().is_ok_and(|answer| answer.contains("sealpost_build_info"))
}

const PATIENCE: Duration = Duration::from_secs(2);
const ANSWER_MAX: u64 = 1024 * 1024;
