//! Authorities that an operator trusts besides the public ones, such as the one of a private network's receivers.

use rustls::pki_types::{
    CertificateDer,
    pem::{self, PemObject as _},
};

/// Why a text names no authorities.
#[derive(Debug, thiserror::Error)]
pub enum RootsFault {
    /// There is no certificate in it.
    #[error("there is no certificate in it")]
    Empty,
    /// What should be a certificate cannot be read.
    #[error("it is no PEM")]
    Unreadable(#[source] pem::Error),
}

/// The certificates of a PEM text, for [`Settings::extra_roots`](crate::Settings::extra_roots).
pub fn read_roots(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, RootsFault> {
    let roots: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(RootsFault::Unreadable)?;
    if roots.is_empty() { Err(RootsFault::Empty) } else { Ok(roots) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_read_and_nothing_else_is_taken_for_one() {
        let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        let pem = [made.cert.pem(), made.signing_key.serialize_pem(), made.cert.pem()].concat();
        let roots = read_roots(pem.as_bytes()).unwrap();
        assert_eq!(roots, [made.cert.der().clone(), made.cert.der().clone()]);
        let key = made.signing_key.serialize_pem();
        for (text, fault) in [
            ("", "there is no certificate in it"),
            (&key, "there is no certificate in it"),
            ("-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n", "it is no PEM"),
        ] {
            assert_eq!(read_roots(text.as_bytes()).unwrap_err().to_string(), fault, "{text}");
        }
    }
}
