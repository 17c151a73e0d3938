//! Tests that the example `mount` runs without an error. The example mounts the API in a server with routes of its own.

#[path = "../examples/mount.rs"]
mod mount;

#[test]
fn a_mounted_api_serves_beside_other_routes() {
    mount::main().unwrap();
}
