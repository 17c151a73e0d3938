//! Tools for agents: a Model Context Protocol server that sends and opens messages as one identity.
//!
//! The command `sealpost mcp` runs the server. [`Agent`] has the tools. [`serve_stdio`] serves the tools to the program
//! that started this process, and [`HttpServer`] serves them to programs on a network.
//!
//! | rule | implementation |
//! |---|---|
//! | no result contains a secret | the [`IdentityStore`] gets the login secret of a new identity |
//! | the text of another party is data | a separate content block, with its author and `"untrusted": true` |
//! | no tool is destructive | no tool revokes, deletes or closes anything |

mod agent;
mod error;
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
