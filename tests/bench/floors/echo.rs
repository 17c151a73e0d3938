//! What HTTP and JSON cost with nothing behind them: actix-web in a process of its own, as the real server is set up,
//! under the load of `closed-64`.

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
    stage::{MESSAGE_BYTES, people::People, server::Server},
};

pub(crate) fn measure(people: &People, budget: Duration) -> f64 {
    let mut command = Command::new(env::current_exe().expect("this binary is there"));
    let server = Server::start({
        command.arg("--echo");
        command
    });
    let load = Load {
        addresses: vec![server.address],
        requests: people.sends(MESSAGE_BYTES),
        connections: 64,
        pace: Pace::Closed,
        warm_up: Duration::ZERO,
        span: budget,
    };
    let (before, begun) = (server.cpu(), Instant::now());
    let tally = load.start().join();
    assert!(begun.elapsed() >= budget && tally.with_status(200) > 0, "{:?}", tally.statuses);
    share(server.cpu().saturating_sub(before), tally.answers)
}

#[derive(Deserialize, Serialize)]
struct Body {
    to: String,
    message: String,
}

/// The other process.
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
        server.await.expect("it serves until it is ended");
    });
}
