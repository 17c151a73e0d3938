//! HTTPS requests to key services.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_wallet::ProviderError;
use serde::{Deserialize as _, Deserializer, Serialize};
use ureq::{
    Agent,
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};
use zeroize::Zeroizing;

use crate::key_of;

/// A key service with an HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyService {
    /// Name of the provider in errors, such as `vault`.
    pub(crate) name: &'static str,
    /// PEM file of the certificate authorities to trust instead of the public authorities.
    pub(crate) ca_file: Option<PathBuf>,
}

/// A response with its complete body.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Zeroizing<Vec<u8>>,
}

impl KeyService {
    /// Sends a POST request. Follows no redirects, because a redirect would send the credentials to another URL.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Reply, ProviderError> {
        let failed = |error: ureq::Error| self.unreachable(&error.to_string());
        // Each call creates a new client, because the file of certificate authorities may have changed. Calls are rare.
        let mut request = self.client()?.post(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(body).map_err(failed)?;
        let mut body = unmoved_buffer();
        let mut reader = response.body_mut().with_config().limit(BODY_BYTES_MAX).reader();
        reader.read_to_end(&mut body).map_err(|error| failed(error.into()))?;
        Ok(Reply { status: response.status().as_u16(), body })
    }

    /// Writes the body of a request as JSON.
    pub(crate) fn json(&self, body: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let mut json = unmoved_buffer();
        serde_json::to_writer(&mut *json, body)
            .map_err(|_impossible| self.unreachable("the request cannot be written"))?;
        Ok(json)
    }

    /// Reads a file with credentials or certificates. The file may be replaced at any time, so its content is not
    /// cached.
    pub(crate) fn read(&self, file: &Path) -> Result<Zeroizing<String>, ProviderError> {
        let text = fs::read_to_string(file).map_err(|error| {
            self.unreachable(&format!("the file {} cannot be read: {error}", file.display()))
        });
        text.map(Zeroizing::new)
    }

    /// Decodes the base64 of a key-encryption key. Fails if the text is not the base64 of 32 bytes.
    pub(crate) fn key(&self, base64: &str) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        let decoded = Zeroizing::new(STANDARD.decode(base64).unwrap_or_default());
        key_of(&decoded).ok_or_else(|| self.unreachable("the response has no key of 32 bytes"))
    }

    pub(crate) fn refused(&self, problem: &str) -> ProviderError {
        ProviderError::Refused { reason: format!("{}: {problem}", self.name) }
    }

    pub(crate) fn unreachable(&self, problem: &str) -> ProviderError {
        ProviderError::Unreachable { reason: format!("{}: {problem}", self.name) }
    }

    fn client(&self) -> Result<Agent, ProviderError> {
        let tls = match &self.ca_file {
            None => TlsConfig::default(),
            Some(file) => {
                let pem = self.read(file)?;
                let certificates: Vec<_> = parse_pem(pem.as_bytes())
                    .filter_map(|item| match item {
                        Ok(PemItem::Certificate(certificate)) => Some(certificate),
                        Ok(_) | Err(_) => None,
                    })
                    .collect();
                TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)).build()
            }
        };
        Ok(Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(TIMEOUT))
            .build()
            .into())
    }
}

/// Deserializes a member that contains a key. The text is erased from memory on drop, even if a later member of the
/// response is invalid.
pub(crate) fn secret_text<'de, D: Deserializer<'de>>(
    member: D,
) -> Result<Zeroizing<String>, D::Error> {
    String::deserialize(member).map(Zeroizing::new)
}

/// Creates a buffer for a body that contains a key. The buffer has the maximum capacity from the start, because a
/// buffer that grows leaves copies of its content in freed memory.
fn unmoved_buffer() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(BODY_CAPACITY))
}

/// Maximum time for one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response body in bytes.
const BODY_BYTES_MAX: u64 = 65_536;
const BODY_CAPACITY: usize = 65_537;
