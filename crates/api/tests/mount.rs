//! Runs the example that mounts the API in another server.

#[path = "../examples/mount.rs"]
mod mount;

#[test]
fn a_mounted_api_serves_beside_other_routes() {
    mount::main().unwrap();
}
