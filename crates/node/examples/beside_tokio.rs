//! Runs a node beside the tokio runtime of this program, and calls it over HTTP.
//!
//! `cargo run -p sealpost-node --example beside_tokio`
#![expect(clippy::print_stdout, reason = "the example shows its results")]

use std::{error::Error, net::SocketAddr};

use sealpost_client::Client;
use sealpost_node::Node;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let free_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let builder = Node::builder().data_dir(folder.path()).listen(free_port).ops_listen(None);
    let node = tokio::task::spawn_blocking(|| builder.spawn()).await??;

    let client = Client::builder(node.base_url()).build()?;
    println!("the service is {}", client.ping().await?.status);

    tokio::task::spawn_blocking(|| drop(node)).await?;
    println!("stopped");
    Ok(())
}
