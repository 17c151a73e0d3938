//! A whole Sealpost node in a library: database, keys, dispatcher, use cases, API, pages, operations address, and an
//! orderly stop.
//!
//! [`Node::start`] starts one from typed [`Settings`]. It must run inside an actix system. The library reads no
//! environment, prints nothing, and listens for no signals.

mod base_url;
pub mod circuits;
mod compose;
pub mod config;
mod error;
pub mod kek;
mod listen;
pub mod metrics;
mod node;
mod ops;
pub mod secret_file;
mod settings;
pub mod tls;

pub use base_url::BaseUrl;
pub use compose::{SystemClock, database_error, open_database};
pub use error::{Failure, NodeError};
pub use node::{Node, Reloader, raise_file_limit};
pub use sealpost_webhooks::RetrySchedule;
pub use settings::{DatabaseSettings, HttpSettings, KekSettings, Settings, WebhookSettings};
