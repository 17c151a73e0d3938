//! Tests that the example `examples/whole_node.rs` runs without an error.

#[path = "../examples/whole_node.rs"]
mod whole_node;

#[test]
fn an_embedded_node_starts_sends_and_stops() {
    whole_node::main().unwrap();
}
