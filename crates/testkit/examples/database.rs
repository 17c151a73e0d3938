//! Creates a database on the test server and copies it. Needs an installed PostgreSQL.
//!
//! `cargo run -p sealpost-testkit --example database`

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use sealpost_testkit::{FsyncMode, Server};

fn main() -> Result<(), String> {
    let server = Server::start(FsyncMode::Off)?;
    let template = server.create_database();
    println!("created {template}");
    println!("copied to {}", server.copy_database(&template));
    Ok(())
}
