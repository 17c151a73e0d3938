//! A running node with its HTTP servers, and its orderly stop.

pub(crate) mod builder;
pub(crate) mod reload;
mod serving;
pub(crate) mod thread;
mod waiting;

use std::sync::Arc;

use actix_web::web;
use sealpost_service::Sealpost;
use sealpost_web::WebState;

use self::reload::Reloader;
use crate::{composition::Components, listening::RunningServer};

/// A running node.
///
/// Call [`Node::stop`] at the end. A dropped node keeps running until its actix system ends.
pub struct Node {
    base_url: String,
    listening_url: String,
    ops_url: Option<String>,
    api: RunningServer,
    pages: web::Data<WebState>,
    ops: Option<RunningServer>,
    components: Arc<Components>,
    reloader: Reloader,
}

impl Node {
    /// Returns the public URL of the service. All links of the service start with this URL.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the address on which the API listens, as a URL.
    pub fn listening_url(&self) -> &str {
        &self.listening_url
    }

    /// Returns the operations address (for health checks and metrics) as a URL; `None` if it is turned off.
    pub fn ops_url(&self) -> Option<&str> {
        self.ops_url.as_deref()
    }

    /// Returns the service itself, for calls without HTTP.
    pub fn sealpost(&self) -> &Arc<Sealpost> {
        &self.components.sealpost
    }

    /// Returns `false` if a worker thread or an HTTP server has panicked. The node does not start a panicked thread or
    /// server again, so the process must be restarted.
    pub fn is_whole(&self) -> bool {
        let mut servers = [Some(&self.api), self.ops.as_ref()].into_iter().flatten();
        self.components.is_whole() && !servers.any(RunningServer::has_ended)
    }

    /// Returns true if the key provider has withdrawn the keys ([`KeySettings::recheck`]). The process must then end,
    /// because its memory has copies of secrets.
    ///
    /// [`KeySettings::recheck`]: crate::settings::KeySettings::recheck
    pub fn has_lost_keys(&self) -> bool {
        self.components.has_lost_keys()
    }

    /// Returns an object that reloads the file of compliance circuits, the TLS certificate and the console's password
    /// file.
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// Stops the node in this order:
    ///
    /// - responds with status 503 at `/readyz`
    /// - ends live streams of the web pages and connections of relays
    /// - refuses new connections and completes active requests
    /// - commits queued messages, and waits for webhook requests in flight
    /// - closes the operations address
    ///
    /// A stop takes at most 28 s with the default settings, unless the database hangs.
    pub async fn stop(self) {
        self.components.begin_stop();
        self.pages.stop();
        self.components.sealpost.webhooks.close_relays();
        self.api.stop(true).await;
        let components = Arc::clone(&self.components);
        if web::block(move || components.stop()).await.is_err() {
            tracing::error!("the orderly stop was interrupted by a panic");
        }
        if let Some(ops) = self.ops {
            ops.stop(false).await;
        }
    }
}

/// Raises the process's limit of open files to the maximum. Each connection is an open file, and shells often set a
/// limit of 1,024. Logs a warning if the maximum is low.
pub fn raise_file_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit < FILES_MIN => tracing::warn!(
            limit,
            "few files can be open, and each connection is a file: raise the limit (LimitNOFILE, ulimit -Hn)"
        ),
        Ok(limit) => tracing::debug!(limit, "raised the limit of open files"),
        Err(error) => tracing::warn!(%error, "the limit of open files cannot be raised"),
    }
}

/// Number of open files below which a limit is low. A node without connections has about 50 open files.
const FILES_MIN: u64 = 1024;
