//! Tests that the example `examples/beside_tokio.rs` runs without an error.

#[path = "../examples/beside_tokio.rs"]
mod beside_tokio;

#[test]
fn a_node_runs_beside_another_runtime() {
    beside_tokio::main().unwrap();
}
