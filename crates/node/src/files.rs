//! Files that operators write for a node: compliance circuits, reserved handles, passwords of the console, and secrets.

pub mod circuits;
pub(crate) mod console;
pub(crate) mod new_file;
pub mod regular_file;
pub(crate) mod reserved_handles;
pub mod secret_file;
