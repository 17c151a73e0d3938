//! TLS configuration of webhook requests. Trusts the public certificate authorities and those that the operator adds.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{
        CertificateDer,
        pem::{self, PemObject as _},
    },
};

/// The reason why a text contains no usable certificate authorities.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// At least one certificate in the text is damaged.
    #[error("a certificate in the text is damaged")]
    Damaged(#[source] rustls::Error),
    /// The text contains no certificate.
    #[error("the text contains no certificate")]
    Empty,
    /// At least one certificate in the text cannot be read.
    #[error("the text is not valid PEM")]
    Unreadable(#[source] pem::Error),
}

/// Reads the certificates of a PEM text for [`Settings::extra_roots`](crate::Settings::extra_roots).
pub fn read_roots(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, RootsError> {
    let roots: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(RootsError::Unreadable)?;
    let mut store = RootCertStore::empty();
    roots.iter().cloned().try_for_each(|root| store.add(root)).map_err(RootsError::Damaged)?;
    if roots.is_empty() { Err(RootsError::Empty) } else { Ok(roots) }
}

/// Builds a TLS client configuration that trusts the public certificate authorities and `extra_roots`.
pub(crate) fn tls_config(
    extra_roots: &[CertificateDer<'static>],
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    for root in extra_roots {
        roots.add(root.clone())?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certificates_are_read_as_certificates() {
        let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        let pem = [made.cert.pem(), made.signing_key.serialize_pem(), made.cert.pem()].concat();
        let roots = read_roots(pem.as_bytes()).unwrap();
        assert_eq!(roots, [made.cert.der().clone(), made.cert.der().clone()]);
        let key = made.signing_key.serialize_pem();
        for (text, fault) in [
            ("", "the text contains no certificate"),
            (&key, "the text contains no certificate"),
            (
                "-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n",
                "the text is not valid PEM",
            ),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "a certificate in the text is damaged",
            ),
        ] {
            assert_eq!(read_roots(text.as_bytes()).unwrap_err().to_string(), fault, "{text}");
        }
    }
}
