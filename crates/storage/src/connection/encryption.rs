//! Decides how connections to PostgreSQL are encrypted, from the URL and the settings.
//!
//! Connections that leave the machine use TLS, and verify the certificate and the host name. An operator can choose a
//! weaker mode, but must do so explicitly.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use sealpost_domain::named_enum;

use crate::connection::url::{DatabaseUrl, PostgresUrl};

/// The encryption of the connections to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encryption {
    /// The database is on this machine. The traffic needs no encryption.
    Local,
    /// TLS with a verified certificate and a verified host name.
    Verified,
    /// The operator has chosen a weaker mode for connections that leave the machine.
    Weaker(SslMode),
}

named_enum! {
    /// The parameter `sslmode` of a PostgreSQL URL, in libpq's order from weak to strong.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SslMode {
        /// Never TLS.
        Disable = "disable",
        /// TLS only if the server refuses a connection without it.
        Allow = "allow",
        /// TLS if the server offers it.
        Prefer = "prefer",
        /// TLS. libpq verifies the certificate only if it finds a file of certificate authorities.
        Require = "require",
        /// TLS with a certificate of a trusted authority. The certificate may name any host.
        VerifyCa = "verify-ca",
        /// TLS with a certificate of a trusted authority. The certificate must name the host in the URL.
        VerifyFull = "verify-full",
    }
}

/// The reasons why the encryption settings of a database are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncryptionError {
    /// The URL sets an `sslmode` that can use TLS, but the settings turn TLS off.
    #[error("give either --database-in-clear or an sslmode with TLS in the database URL, not both")]
    Contradiction,
    /// No file of certificate authorities was found on this machine.
    #[error(
        "this machine has no certificate authorities to verify the database server: install ca-certificates, or give \
         sslrootcert=FILE in the database URL"
    )]
    NoAuthorities,
    /// The connection needs TLS, but this binary was built without TLS for PostgreSQL.
    #[error(
        "the connection to the database needs TLS, which this binary lacks: build it with --features postgres-tls, \
         use a host on this machine in the database URL, or give --database-in-clear if the network is private"
    )]
    NotBuilt,
    /// The URL has `sslrootcert=system` (the certificate authorities of this machine), but its `sslmode` does not
    /// verify the host name.
    #[error("sslrootcert=system in the database URL needs sslmode=verify-full")]
    SystemWithoutHost,
    /// The `sslmode` in the URL does not exist.
    #[error(
        "the sslmode in the database URL is unknown: give disable, allow, prefer, require, verify-ca or verify-full"
    )]
    UnknownMode,
}

impl DatabaseUrl {
    /// Returns the encryption of the connections. `in_clear` turns TLS off, and is rejected if the URL sets an
    /// `sslmode` other than `disable`.
    pub fn encryption(&self, in_clear: bool) -> Result<Encryption, EncryptionError> {
        let Self::Postgres(url) = self else { return Ok(Encryption::Local) };
        let mode = mode(url, in_clear)?;
        if !url.leaves_the_machine() {
            return Ok(Encryption::Local);
        }
        Ok(match mode {
            Some(SslMode::VerifyFull) | None => Encryption::Verified,
            Some(weaker) => Encryption::Weaker(weaker),
        })
    }
}

impl SslMode {
    /// Returns the risk of the mode, with advice. Returns `None` for the strongest mode, which has no risk.
    pub fn risk(self) -> Option<&'static str> {
        match self {
            Self::Disable => Some(
                "connections to the database are not encrypted: an attacker on the network can read and change all \
                 data; use sslmode=verify-full",
            ),
            Self::Allow | Self::Prefer => Some(
                "connections to the database may be unencrypted: an attacker on the network can turn TLS off; use \
                 sslmode=verify-full",
            ),
            Self::Require => Some(
                "the certificate of the database server may be unverified: an attacker on the network can pose as the \
                 server; use sslmode=verify-full",
            ),
            Self::VerifyCa => Some(
                "the host name of the database server is not verified: another server with a certificate of the \
                 authority can pose as the server; use sslmode=verify-full",
            ),
            Self::VerifyFull => None,
        }
    }
}

/// Adds the missing encryption parameters to the URL. For the mode `verify-full`, sets `sslrootcert` to the machine's
/// file of certificate authorities if the parameter is missing or `system`.
pub(crate) fn encrypted(url: &PostgresUrl, in_clear: bool) -> Result<PostgresUrl, EncryptionError> {
    let Some(mode) = mode(url, in_clear)? else { return Ok(url.clone()) };
    let mut url = match url.parameter("sslmode") {
        Some(_given) => url.clone(),
        None => url.with_parameter("sslmode", mode.as_str()),
    };
    let uses_system = url.parameter("sslrootcert").is_none_or(|file| file == SYSTEM);
    if mode == SslMode::VerifyFull && uses_system {
        let file = system_authorities().ok_or(EncryptionError::NoAuthorities)?;
        url = url.with_parameter("sslrootcert", &percent_encoded(&file));
    }
    Ok(url)
}

/// Returns advice for a connection error, found by the text of the error. `None` if TLS is not the cause.
pub(crate) fn advice(error: &str) -> Option<&'static str> {
    let found = ADVICE.iter().find(|(phrase, _)| error.contains(phrase));
    found.map(|(_, advice)| *advice)
}

/// Returns the `sslmode` of the connections. `None` for a database on this machine without an `sslmode` in the URL:
/// libpq then chooses the mode.
fn mode(url: &PostgresUrl, in_clear: bool) -> Result<Option<SslMode>, EncryptionError> {
    let given = url.parameter("sslmode");
    let given = given.map(|text| SslMode::from_name(text).ok_or(EncryptionError::UnknownMode));
    let uses_system = url.parameter("sslrootcert") == Some(SYSTEM);
    let mode = match given.transpose()? {
        Some(SslMode::Disable) => SslMode::Disable,
        Some(_) if in_clear => return Err(EncryptionError::Contradiction),
        Some(given) => given,
        None if in_clear => SslMode::Disable,
        None if uses_system || url.leaves_the_machine() => SslMode::VerifyFull,
        None => return Ok(None),
    };
    if uses_system && mode != SslMode::VerifyFull {
        return Err(EncryptionError::SystemWithoutHost);
    }
    if mode >= SslMode::Require && !HAS_TLS {
        return Err(EncryptionError::NotBuilt);
    }
    Ok(Some(mode))
}

/// Finds the file of the machine's certificate authorities, because the bundled OpenSSL does not know the path.
#[cfg(feature = "postgres-tls")]
fn system_authorities() -> Option<PathBuf> {
    openssl_probe::probe().cert_file
}

#[cfg(not(feature = "postgres-tls"))]
fn system_authorities() -> Option<PathBuf> {
    None
}

/// Encodes a path as the value of a URL parameter.
fn percent_encoded(path: &Path) -> String {
    let encoded = |&byte: &u8| {
        if byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    path.as_os_str().as_bytes().iter().map(encoded).collect()
}

/// True if the bundled libpq was built with TLS.
const HAS_TLS: bool = cfg!(feature = "postgres-tls");

/// The value of `sslrootcert` that selects the certificate authorities of the machine.
const SYSTEM: &str = "system";

/// Pairs of a phrase in an error of libpq or PostgreSQL, and the advice for this error. The bundled libpq has only
/// English messages.
const ADVICE: [(&str, &str); 8] = [
    (
        "server does not support SSL",
        "the database server has no TLS: turn on its setting ssl, or give --database-in-clear if the network is \
         private",
    ),
    (
        "does not match host name",
        "the certificate of the database server is for another host: use a name of the certificate in the database URL",
    ),
    ("certificate verify failed", REJECTED),
    // This error means that the certificate names the authority of sslrootcert, but was signed with another key.
    ("signature failure", REJECTED),
    // The same error of OpenSSL 3.0.
    ("EVP lib", REJECTED),
    (
        "root certificate file",
        "the authority of the database server cannot be read: correct sslrootcert in the database URL",
    ),
    ("requires a valid client certificate", NO_CERTIFICATE),
    ("certificate required", NO_CERTIFICATE),
];

const NO_CERTIFICATE: &str = "the database server demands a client certificate: give sslcert=FILE and sslkey=FILE in the \
                              database URL";

const REJECTED: &str = "the certificate of the database server is rejected: renew it if it has expired; otherwise give \
                        the certificate of its authority with sslrootcert=FILE in the database URL";

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(text: &str) -> PostgresUrl {
        match format!("postgres://{text}").parse() {
            Ok(DatabaseUrl::Postgres(url)) => url,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_connection_that_leaves_the_machine_is_verified_unless_the_operator_chooses_otherwise() {
        use Encryption::{Local, Verified, Weaker};
        for (text, in_clear, expected) in [
            ("localhost/d", false, Ok(Local)),
            ("localhost/d", true, Ok(Local)),
            ("localhost/d?sslmode=disable", false, Ok(Local)),
            ("db.example/d", false, with_tls(Verified)),
            ("localhost,db.example/d", false, with_tls(Verified)),
            ("db.example/d?sslmode=verify-full", false, with_tls(Verified)),
            ("db.example/d?sslmode=verify-ca", false, with_tls(Weaker(SslMode::VerifyCa))),
            ("db.example/d?sslmode=require", false, with_tls(Weaker(SslMode::Require))),
            ("db.example/d?sslmode=prefer", false, Ok(Weaker(SslMode::Prefer))),
            ("db.example/d?sslmode=allow", false, Ok(Weaker(SslMode::Allow))),
            ("db.example/d?sslmode=disable", false, Ok(Weaker(SslMode::Disable))),
            ("db.example/d?sslmode=disable", true, Ok(Weaker(SslMode::Disable))),
            ("db.example/d", true, Ok(Weaker(SslMode::Disable))),
            ("db.example/d?sslmode=require", true, Err(EncryptionError::Contradiction)),
            ("db.example/d?sslmode=on", false, Err(EncryptionError::UnknownMode)),
            (
                "localhost/d?sslmode=require&sslrootcert=system",
                false,
                Err(EncryptionError::SystemWithoutHost),
            ),
        ] {
            let url = DatabaseUrl::Postgres(postgres(text));
            assert_eq!(url.encryption(in_clear), expected, "{text} {in_clear}");
        }
    }

    #[test]
    fn only_the_parameters_of_the_chosen_mode_are_added() {
        for (text, in_clear, expected) in [
            ("localhost/d", false, "localhost/d"),
            ("localhost/d", true, "localhost/d?sslmode=disable"),
            ("h/d", true, "h/d?sslmode=disable"),
            ("h/d?sslmode=prefer", false, "h/d?sslmode=prefer"),
        ] {
            let url = encrypted(&postgres(text), in_clear).unwrap();
            assert_eq!(url, postgres(expected), "{text}");
        }
    }

    #[cfg(feature = "postgres-tls")]
    #[test]
    fn the_authorities_of_the_machine_verify_only_a_host_name() {
        let ends = |text: &str| encrypted(&postgres(text), false).unwrap().with_defaults(&[]);
        let system = system_authorities().unwrap();
        let tail = format!("?sslmode=verify-full&sslrootcert={}", percent_encoded(&system));
        assert!(ends("h/d").ends_with(&tail), "{}", ends("h/d"));
        assert!(
            ends("localhost/d?sslrootcert=system")
                .contains("system&sslmode=verify-full&sslrootcert=/")
        );
        assert!(ends("h/d?sslrootcert=a").ends_with("?sslrootcert=a&sslmode=verify-full"));
        // No authorities are added, because with them libpq would treat `require` as `verify-ca`.
        assert!(!ends("h/d?sslmode=require").contains("sslrootcert"));
    }

    #[test]
    fn a_path_is_percent_encoded() {
        assert_eq!(percent_encoded(Path::new("/a b/c&d.pem")), "/a%20b/c%26d.pem");
    }

    fn with_tls<T>(expected: T) -> Result<T, EncryptionError> {
        if HAS_TLS { Ok(expected) } else { Err(EncryptionError::NotBuilt) }
    }
}
