//! Reloads the compliance circuits and the TLS certificate while a node runs.

use std::{path::PathBuf, sync::Arc};

use sealpost_domain::Clock as _;
use sealpost_service::Sealpost;

use crate::{circuits, clock::SystemClock, listening::tls::ReloadableCertificate};

/// Reloads the file of compliance circuits and the TLS certificate of a running node.
#[derive(Clone)]
pub struct Reloader {
    pub(super) circuits: Option<PathBuf>,
    pub(super) sealpost: Arc<Sealpost>,
    pub(super) certificate: Option<Arc<ReloadableCertificate>>,
}

impl Reloader {
    /// Reads the circuits file and the certificate again. Logs an invalid file and keeps its previous content in use.
    /// Blocks.
    pub fn reload(&self) {
        circuits::reload(self.circuits.as_deref(), &self.sealpost);
        if let Some(certificate) = &self.certificate {
            certificate.reload(SystemClock.now());
        }
    }
}
