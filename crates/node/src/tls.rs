//! TLS of the service itself: the certificate and its key, which are read again on SIGHUP. Connections that are open
//! keep theirs; what does not fit replaces nothing.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use sealpost_domain::Timestamp;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::{
    error::{Failure, NodeError},
    metrics, secret_file,
};

/// Where the certificate and its key are, both in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The server's certificate first, then those that lead to its authority.
    pub chain: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// A certificate with its key, and when it may be used.
#[derive(Debug)]
pub struct Pair {
    certified: Arc<CertifiedKey>,
    /// When it begins to be valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
}

/// What new connections are served with.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Tls {
    /// Reads both files for the first time.
    pub(crate) fn open(files: TlsFiles, now: Timestamp) -> Result<Arc<Self>, NodeError> {
        let pair = files.read()?;
        pair.check(now)?;
        pair.tell();
        Ok(Arc::new(Self { files, current: RwLock::new(pair.certified) }))
    }

    /// Reads both files again, for the connections that come from now on.
    pub(crate) fn reload(&self, now: Timestamp) {
        let read = self.files.read().and_then(|pair| pair.check(now).map(|()| pair));
        match read {
            Ok(pair) => {
                pair.tell();
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = pair.certified;
                tracing::info!(tls.not_after = %pair.not_after, "the certificate was read again");
            }
            Err(fault) => {
                tracing::error!(
                    error = %fault.with_causes(),
                    "the certificate was not read again; the one before stays"
                );
            }
        }
    }

    /// TLS 1.2 and 1.3, and no protocol but HTTP/1.1.
    pub(crate) fn config(self: &Arc<Self>) -> Result<ServerConfig, NodeError> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| NodeError::Tls(Failure::caused("TLS cannot be set up", error)))?;
        let resolver: Arc<Self> = Arc::clone(self);
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl ResolvesServerCert for Tls {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl TlsFiles {
    /// Reads both files; refuses what cannot be a certificate with its own key.
    pub fn read(&self) -> Result<Pair, NodeError> {
        let chain = read_certificates(&self.chain)?;
        let text = secret_file::read("the TLS key", &self.key)?;
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| {
            NodeError::Tls(Failure::caused(
                format!("{} holds no private key in PEM", self.key.display()),
                error,
            ))
        })?;
        let leaf = chain.first().ok_or_else(|| no_certificate(&self.chain))?;
        let (not_before, not_after) = validity(leaf).ok_or_else(|| no_certificate(&self.chain))?;
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider());
        let certified = certified.map_err(|error| {
            NodeError::Tls(Failure::caused(
                format!(
                    "the TLS key {} does not belong to the first certificate of {}",
                    self.key.display(),
                    self.chain.display()
                ),
                error,
            ))
        })?;
        Ok(Pair { certified: Arc::new(certified), not_before, not_after })
    }
}

impl Pair {
    fn tell(&self) {
        let not_after = metrics::float(self.not_after.as_seconds());
        ::metrics::gauge!("sealpost_tls_certificate_not_after_seconds").set(not_after);
    }

    /// Refuses a certificate that no client would take now.
    pub fn check(&self, now: Timestamp) -> Result<(), NodeError> {
        if now < self.not_before {
            return Err(NodeError::Tls(Failure::new(format!(
                "the TLS certificate is not valid before {}; look at the clock",
                self.not_before
            ))));
        }
        if now > self.not_after {
            return Err(NodeError::Tls(Failure::new(format!(
                "the TLS certificate ended on {}; put a new one in its place",
                self.not_after
            ))));
        }
        Ok(())
    }
}

/// The certificates of a PEM file, of which there must be one.
pub fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NodeError> {
    let cannot = |error: rustls::pki_types::pem::Error| {
        NodeError::Tls(Failure::caused(
            format!("the certificates {} cannot be read", file.display()),
            error,
        ))
    };
    let read = CertificateDer::pem_file_iter(file).map_err(cannot)?;
    let certificates = read.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    if certificates.is_empty() {
        return Err(no_certificate(file));
    }
    Ok(certificates)
}

fn no_certificate(file: &Path) -> NodeError {
    NodeError::Tls(Failure::new(format!("{} holds no certificate in PEM", file.display())))
}

/// From when to when a certificate may be used.
fn validity(certificate: &CertificateDer<'_>) -> Option<(Timestamp, Timestamp)> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let instant = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1000));
    let validity = parsed.validity();
    Some((instant(validity.not_before.timestamp()), instant(validity.not_after.timestamp())))
}
