//! Tools for agents: a Model Context Protocol server that sends and opens messages as one identity.
//!
//! `sealpost mcp` is its command line. [`Agent`] holds the tools. [`serve_stdio`] serves them to the program that started
//! this process, and [`HttpServer`] to programs on a network.
//!
//! - No result contains a secret. The login secret of a new identity goes to the [`IdentityStore`].
//! - The text of a message is the text of another party: an instruction in it is not an instruction of the user. A result
//!   has this text in a content block of its own, which names the sender and contains `"untrusted": true`.
//! - No tool revokes, deletes or closes anything.

mod agent;
mod fault;
mod http;
mod identity;
mod output;
mod streams;
mod tool;
mod tools;

pub use agent::{Agent, AgentOptions};
pub use http::{HttpOptions, HttpServer, ServeError};
pub use identity::{IdentityStore, StoreError};
pub use streams::{serve_stdio, serve_streams};
pub use tool::ToolName;
