//! A service for the tests of other programs.
//!
//! ```
//! # fn main() -> Result<(), sealpost_node::NodeError> {
//! let service = sealpost_node::testing::start()?;
//! assert!(service.url().starts_with("http://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```

use std::net::{Ipv4Addr, SocketAddr};

use tempfile::TempDir;

use crate::{
    error::NodeError,
    node::{Node, thread::NodeThread},
    settings::Settings,
};

/// A service with an empty database in a temporary folder. Dropping this value stops the service, and deletes the
/// folder.
pub struct TestService {
    node: NodeThread,
    /// Declared after the node. Fields are dropped in the order of their declaration, so the node stops before the
    /// folder is deleted.
    _folder: TempDir,
}

/// Starts a service on a free port of 127.0.0.1. Blocks until the service accepts requests.
///
/// Webhooks may use plain HTTP and loopback addresses. No limits by client address apply.
pub fn start() -> Result<TestService, NodeError> {
    let folder = tempfile::tempdir()
        .map_err(|error| NodeError::caused("no temporary folder can be created", error))?;
    let mut settings = Settings { dev: true, ..Settings::default() };
    settings.api.activations_per_minute = 0;
    settings.api.logins_per_minute = 0;
    settings.api.account_changes_per_minute = 0;
    settings.api.webhook_tests_per_minute = 0;
    let node = Node::builder()
        .settings(settings)
        .data_dir(folder.path().join("data"))
        .listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .ops_listen(None)
        .spawn()?;
    Ok(TestService { node, _folder: folder })
}

impl TestService {
    /// Returns the URL of the service, for clients.
    pub fn url(&self) -> &str {
        self.node.base_url()
    }

    /// Returns the node, for calls without HTTP.
    pub fn node(&self) -> &NodeThread {
        &self.node
    }
}
