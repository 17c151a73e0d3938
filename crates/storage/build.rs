//! Embedded migrations are read at compile time: a changed one has to compile this crate again.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
