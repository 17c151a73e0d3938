//! A certificate authority for the tests. Issues server certificates for local TLS servers.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};

/// A certificate authority that issues certificates for tests.
pub(crate) struct Authority {
    pub(crate) pem: String,
    pub(crate) der: Vec<u8>,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its private key.
pub(crate) struct Issued {
    pub(crate) chain_pem: String,
    pub(crate) key_pem: String,
    der: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "Authority of the tests");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { pem: issuer.pem(), der: issuer.der().to_vec(), issuer }
    }

    /// Returns the self-signed certificate of the authority, for use as a server certificate. `openssl req -x509`
    /// creates such certificates.
    pub(crate) fn as_server(&self) -> Issued {
        let key = self.issuer.key();
        Issued {
            chain_pem: self.pem.clone(),
            key_pem: key.serialize_pem(),
            der: CertificateDer::from(self.der.clone()),
            key: key.serialize_der(),
        }
    }

    /// Issues a certificate for this machine that does not expire soon.
    pub(crate) fn issue(&self) -> Issued {
        self.issue_until(4000)
    }

    /// Issues a certificate for this machine that expires at the start of `year`.
    pub(crate) fn issue_until(&self, year: i32) -> Issued {
        self.issue_where(|params| params.not_after = date_time_ymd(year, 1, 1))
    }

    /// Issues a certificate for this machine that expires after `span`.
    #[expect(clippy::disallowed_methods, reason = "the server under test asks the same clock")]
    pub(crate) fn issue_for(&self, span: Duration) -> Issued {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        self.issue_where(|params| params.not_after = date_time_ymd(1970, 1, 1) + now + span)
    }

    /// Issues a certificate for another host name.
    pub(crate) fn issue_for_name(&self, name: &str) -> Issued {
        self.issue_to(&[name], |_| ())
    }

    /// Issues a certificate for a client, such as a user of a database.
    #[cfg(feature = "postgres-tls")]
    pub(crate) fn issue_for_client(&self, name: &str) -> Issued {
        self.issue_to(&[], |params| params.distinguished_name.push(DnType::CommonName, name))
    }

    /// Issues a certificate for another host name that expired long ago.
    #[cfg(feature = "postgres-tls")]
    pub(crate) fn issue_expired_for_name(&self, name: &str) -> Issued {
        self.issue_to(&[name], |params| params.not_after = date_time_ymd(2001, 1, 1))
    }

    fn issue_where(&self, set: impl FnOnce(&mut CertificateParams)) -> Issued {
        self.issue_to(&["127.0.0.1", "localhost"], set)
    }

    fn issue_to(&self, names: &[&str], set: impl FnOnce(&mut CertificateParams)) -> Issued {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        set(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Issued {
            chain_pem: format!("{}{}", certificate.pem(), self.pem),
            key_pem: key.serialize_pem(),
            der: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

impl Issued {
    /// Writes the certificate chain and the private key to files. Only the file owner can read the private key.
    pub(crate) fn write(&self, chain: &Path, key: &Path) {
        fs::write(chain, &self.chain_pem).unwrap();
        fs::write(key, &self.key_pem).unwrap();
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Returns the server's certificate in DER, as sent in the TLS handshake.
    pub(crate) fn der(&self) -> &[u8] {
        &self.der
    }

    /// Builds the configuration of a TLS server with this certificate.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let key = PrivateKeyDer::try_from(self.key.clone()).unwrap();
        let config = builder.with_safe_default_protocol_versions().unwrap();
        Arc::new(
            config.with_no_client_auth().with_single_cert(vec![self.der.clone()], key).unwrap(),
        )
    }
}
