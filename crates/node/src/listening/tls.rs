//! Loads and reloads the TLS certificate and its private key. Open connections keep the certificate of their handshake.
//! If the new files are invalid, the current certificate stays in use.

use std::{path::Path, sync::Arc};

use parking_lot::RwLock;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use sealpost_domain::Timestamp;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::{error::NodeError, metrics, regular_file, secret_file, settings::TlsFiles};

/// A TLS certificate with its private key and its period of validity.
#[derive(Debug)]
pub struct ServerCertificate {
    certified: Arc<CertifiedKey>,
    /// The time from which the certificate is valid.
    pub not_before: Timestamp,
    /// The time until which the certificate is valid.
    pub not_after: Timestamp,
}

/// The certificate for new connections. It can be replaced while the server runs.
#[derive(Debug)]
pub(crate) struct ReloadableCertificate {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
}

impl ReloadableCertificate {
    /// Reads the certificate and its private key when the node starts.
    pub(crate) fn open(files: TlsFiles, now: Timestamp) -> Result<Arc<Self>, NodeError> {
        let pair = read(&files, now)?;
        pair.export_expiry();
        Ok(Arc::new(Self { files, current: RwLock::new(pair.certified) }))
    }

    /// Reads the certificate and its private key again, and uses them for new connections. If a file is invalid, logs
    /// the error and keeps the current certificate.
    pub(crate) fn reload(&self, now: Timestamp) {
        match read(&self.files, now) {
            Ok(pair) => {
                pair.export_expiry();
                *self.current.write() = pair.certified;
                tracing::info!(tls.not_after = %pair.not_after, "the certificate was reloaded");
            }
            Err(fault) => {
                tracing::error!(
                    error = fault.with_causes(),
                    "the certificate was not reloaded; the current certificate stays"
                );
            }
        }
    }

    /// Configures TLS 1.2 and 1.3 with HTTP/1.1 as the only protocol.
    pub(crate) fn config(self: &Arc<Self>) -> Result<ServerConfig, NodeError> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| NodeError::caused("TLS cannot be configured", error))?;
        let resolver: Arc<Self> = Arc::clone(self);
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl ResolvesServerCert for ReloadableCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read()))
    }
}

impl ServerCertificate {
    fn export_expiry(&self) {
        let not_after = metrics::float(self.not_after.as_seconds());
        ::metrics::gauge!("sealpost_tls_certificate_not_after_seconds").set(not_after);
    }

    /// Rejects a certificate that is not valid yet or has expired.
    fn check(self, now: Timestamp) -> Result<Self, NodeError> {
        if now < self.not_before {
            return Err(NodeError::new(format!(
                "the TLS certificate is not valid before {}: check the clock",
                self.not_before
            )));
        }
        if now > self.not_after {
            return Err(NodeError::new(format!(
                "the TLS certificate expired on {}: replace both files",
                self.not_after
            )));
        }
        Ok(self)
    }
}

/// Reads the certificate chain and the private key. Rejects a key that does not belong to the certificate, and a
/// certificate that is not valid at the time `now`.
pub fn read(files: &TlsFiles, now: Timestamp) -> Result<ServerCertificate, NodeError> {
    let chain = read_certificates(&files.chain)?;
    let text = secret_file::read("the TLS key", &files.key)?;
    let key = PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| {
        NodeError::caused(format!("{} contains no private key in PEM", files.key.display()), error)
    })?;
    let leaf = chain.first().ok_or_else(|| no_certificate(&files.chain))?;
    let (not_before, not_after) = validity(leaf).ok_or_else(|| no_certificate(&files.chain))?;
    let certified = CertifiedKey::from_der(chain, key, &ring::default_provider());
    let certified = certified.map_err(|error| {
        NodeError::caused(
            format!(
                "the TLS key {} does not belong to the first certificate in {}",
                files.key.display(),
                files.chain.display()
            ),
            error,
        )
    })?;
    ServerCertificate { certified: Arc::new(certified), not_before, not_after }.check(now)
}

/// Reads the certificates of a PEM file. Rejects a file without a certificate.
fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, NodeError> {
    let message = || format!("the certificate file {} cannot be read", file.display());
    let text = regular_file::read_text(file, CHAIN_BYTES_MAX)
        .map_err(|error| NodeError::caused(message(), error))?;
    let certificates = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<_, _>>();
    let certificates: Vec<_> = certificates.map_err(|error| NodeError::caused(message(), error))?;
    if certificates.is_empty() {
        return Err(no_certificate(file));
    }
    Ok(certificates)
}

fn no_certificate(file: &Path) -> NodeError {
    NodeError::new(format!("{} contains no certificate in PEM", file.display()))
}

/// Returns the start and the end of the certificate's validity; `None` if the certificate cannot be parsed.
fn validity(certificate: &CertificateDer<'_>) -> Option<(Timestamp, Timestamp)> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let instant = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1000));
    let validity = parsed.validity();
    Some((instant(validity.not_before.timestamp()), instant(validity.not_after.timestamp())))
}

/// Maximum size of a file of certificates in bytes.
const CHAIN_BYTES_MAX: u64 = 4_194_304;
