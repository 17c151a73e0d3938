//! Runs the example for embedders.

#[path = "../examples/embed.rs"]
mod embed;

#[test]
fn an_embedded_node_starts_sends_and_stops() {
    embed::main().unwrap();
}
