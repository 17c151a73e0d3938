//! Runs a node on a thread of its own, for programs without an actix system.

use std::{
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

use sealpost_service::Sealpost;
use tokio::sync::oneshot;

#[cfg(doc)]
use super::Node;
use super::builder::NodeBuilder;
use crate::{composition::Components, error::NodeError};

/// A node that runs on a thread of its own.
///
/// Dropping this value stops the node, and blocks until the node has stopped.
pub struct NodeThread {
    base_url: String,
    components: Arc<Components>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl NodeBuilder {
    /// Starts the node on a new thread with its own actix system. Blocks until the node serves requests.
    ///
    /// Use this function beside another tokio runtime, where [`start`](Self::start) cannot run.
    pub fn spawn(self) -> Result<NodeThread, NodeError> {
        let (stop, stopped) = oneshot::channel();
        let (report, started) = mpsc::channel();
        let run = move || actix_rt::System::new().block_on(run(self, report, stopped));
        let thread = thread::Builder::new().name("sealpost-node".to_owned()).spawn(run).map_err(
            |error| NodeError::caused("the thread of the node cannot be started", error),
        )?;
        let started = started
            .recv()
            .map_err(|error| NodeError::caused("the start was interrupted by a panic", error))?;
        let (base_url, components) = started?;
        Ok(NodeThread { base_url, components, stop: Some(stop), thread: Some(thread) })
    }
}

impl NodeThread {
    /// Returns the public URL of the service. All links of the service start with this URL.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the service itself, for calls without HTTP.
    pub fn sealpost(&self) -> &Arc<Sealpost> {
        &self.components.sealpost
    }

    /// Returns `false` if a worker thread has panicked. Such a thread is not started again, so the process must be
    /// restarted.
    pub fn is_whole(&self) -> bool {
        self.components.is_whole()
    }

    /// Returns true if the key provider has withdrawn the keys. The process must then end: see [`Node::has_lost_keys`].
    pub fn has_lost_keys(&self) -> bool {
        self.components.has_lost_keys()
    }
}

impl Drop for NodeThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the orderly stop was interrupted by a panic");
        }
    }
}

/// The base URL and the components of a started node, or the error of its start.
type StartReport = Result<(String, Arc<Components>), NodeError>;

/// Runs a node until the sender of `stopped` is dropped.
async fn run(
    builder: NodeBuilder,
    report: mpsc::Sender<StartReport>,
    stopped: oneshot::Receiver<()>,
) {
    match builder.start().await {
        Err(error) => drop(report.send(Err(error))),
        Ok(node) => {
            let started = (node.base_url().to_owned(), Arc::clone(&node.components));
            drop(report.send(Ok(started)));
            drop(stopped.await);
            node.stop().await;
        }
    }
}
