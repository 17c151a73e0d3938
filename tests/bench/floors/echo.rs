//! The cost of HTTP and JSON alone: actix-web in a separate process, configured like the real server, under
//! the load of `closed-64`.

use std::{
    env,
    io::Write as _,
    net::TcpListener,
    process::Command,
    time::{Duration, Instant},
};

use actix_web::{App, HttpServer, web};
use serde::{Deserialize, Serialize};

use crate::{
    load::{Load, Pace},
    report::share,
    stage::{MESSAGE_BYTES, identities::Identities, server::Server},
};

pub(crate) fn measure(identities: &Identities, budget: Duration) -> f64 {
    let mut command = Command::new(env::current_exe().expect("the path of this binary is known"));
    let server = Server::start({
        command.arg("--echo");
        command
    });
    let load = Load {
        addresses: vec![server.address],
        requests: identities.sends(MESSAGE_BYTES),
        connections: 64,
        pace: Pace::Closed,
        warm_up: Duration::ZERO,
        span: budget,
    };
    let (before, started) = (server.cpu(), Instant::now());
    let tally = load.start().join();
    assert!(started.elapsed() >= budget && tally.with_status(200) > 0, "{:?}", tally.statuses);
    share(server.cpu().saturating_sub(before), tally.responses)
}

#[derive(Deserialize, Serialize)]
struct Body {
    to: String,
    message: String,
}

/// Runs the separate process.
pub(crate) fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("the socket is bound");
    actix_rt::System::new().block_on(async {
        let app = || {
            let echo = async |body: web::Json<Body>| body;
            App::new().service(web::resource("/v1/channel/send").route(web::post().to(echo)))
        };
        let server = HttpServer::new(app).listen(listener).expect("the socket listens").run();
        let mut out = std::io::stdout();
        writeln!(out, "echo listening on http://{address}").expect("standard output is open");
        out.flush().expect("standard output is open");
        server.await.expect("the server runs until its end");
    });
}
