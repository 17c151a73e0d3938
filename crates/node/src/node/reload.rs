//! Reloads files of a running node.

use std::{path::PathBuf, sync::Arc};

use sealpost_domain::Clock as _;
use sealpost_service::Sealpost;

use crate::{
    clock::SystemClock,
    files::{circuits, console::Console},
    listening::tls::ReloadableCertificate,
};

/// Reloads three files of a running node: the compliance circuits, the TLS certificate and the console's password file.
#[derive(Clone)]
pub struct Reloader {
    pub(super) circuits: Option<PathBuf>,
    pub(super) sealpost: Arc<Sealpost>,
    pub(super) certificate: Option<Arc<ReloadableCertificate>>,
    pub(super) console: Option<Console>,
}

impl Reloader {
    /// Reads the three files again. If a file is invalid, logs the error and keeps its previous content in use. Blocks
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
