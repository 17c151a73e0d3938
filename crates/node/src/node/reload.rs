//! Reloads the compliance circuits, the TLS certificate and the console's password file while a node runs.

use std::{path::PathBuf, sync::Arc};

use sealpost_domain::Clock as _;
use sealpost_service::Sealpost;

use crate::{
    clock::SystemClock,
    files::{circuits, console::Console},
    listening::tls::ReloadableCertificate,
};

/// Reloads the file of compliance circuits, the TLS certificate and the console's password file of a running node.
#[derive(Clone)]
pub struct Reloader {
    pub(super) circuits: Option<PathBuf>,
    pub(super) sealpost: Arc<Sealpost>,
    pub(super) certificate: Option<Arc<ReloadableCertificate>>,
    pub(super) console: Option<Console>,
}

impl Reloader {
    /// Reads the three files again. If a file is invalid, logs the error and keeps the previous content in use. Blocks
    /// the thread.
    pub fn reload(&self) {
        circuits::reload(self.circuits.as_deref(), &self.sealpost);
        if let Some(certificate) = &self.certificate {
            certificate.reload(SystemClock.now());
        }
        if let Some(console) = &self.console {
            console.reload();
        }
    }
}
