//! Receives and opens envelopes in an actix-web application.
//!
//! Needs the environment variables `SEALPOST_URL`, `SEALPOST_TOKEN`, `WEBHOOK_SECRET` and `LISTEN`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use actix_web::{App, HttpServer};
use sealpost_client::{Client, OpenedEnvelope, Receiver, actix::handler, secrets};

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SEALPOST_URL")?, env::var("SEALPOST_TOKEN")?);
    let client = Client::builder(&url).token(token).build()?;
    let keys = secrets(&env::var("WEBHOOK_SECRET")?, "WEBHOOK_SECRET")?;
    let receiver = Receiver::new(client, keys, async |envelope: OpenedEnvelope| {
        println!("{} {}", envelope.sender, envelope.message);
        Ok(())
    });
    let app = move || App::new().route("/hook", handler(receiver.clone()));
    Ok(HttpServer::new(app).bind(env::var("LISTEN")?)?.run().await?)
}
