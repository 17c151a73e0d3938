//! Recompiles the crate after a change of a migration, because migrations are embedded at compile time.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
