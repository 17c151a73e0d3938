//! The provider `vault`: the transit engine of `HashiCorp` Vault or `OpenBao`, by its HTTP API.

use std::{collections::BTreeMap, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_wallet::{KekProvider, ProviderError};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::key_service::{KeyService, secret_text};

/// A key of a transit engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vault {
    pub(crate) service: KeyService,
    /// The scheme and the authority of the URL, such as `https://vault.example.com:8200`.
    pub(crate) address: String,
    /// The path of the engine, such as `transit`.
    pub(crate) mount: String,
    pub(crate) key: String,
    /// The file with the token. The file is read for each call, so that an agent can renew the token.
    pub(crate) token_file: PathBuf,
}

#[derive(Deserialize)]
struct Success {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    ciphertext: String,
    #[serde(default, deserialize_with = "secret_text")]
    plaintext: Zeroizing<String>,
}

#[derive(Default, Deserialize)]
struct Failure {
    #[serde(default)]
    errors: Vec<String>,
}

impl Vault {
    /// Calls an operation of the key: `encrypt` or `decrypt`. `field` is the name of the input in the request, and
    /// `input` its value.
    fn call(&self, operation: &str, field: &str, input: &str) -> Result<Data, ProviderError> {
        let Self { service, address, mount, key, token_file } = self;
        let token = service.read(token_file)?;
        let url = format!("{address}/v1/{mount}/{operation}/{key}");
        let body = service.json(&BTreeMap::from([(field, input)]))?;
        let headers = [("content-type", "application/json"), ("x-vault-token", token.trim())];
        let reply = service.post(&url, &headers, &body)?;
        if reply.status == 200 {
            let invalid = |_| service.unreachable("the response is not that of a transit engine");
            return serde_json::from_slice::<Success>(&reply.body)
                .map(|success| success.data)
                .map_err(invalid);
        }
        let failure: Failure = serde_json::from_slice(&reply.body).unwrap_or_default();
        let problem = format!("status {}: {}", reply.status, failure.errors.join(", "));
        // With these four statuses, the server rejects the key or the token. Other statuses may be temporary states of
        // the server, for example 412, 429, 472 and 473.
        Err(match reply.status {
            400 | 401 | 403 | 404 => service.refused(&problem),
            _ => service.unreachable(&problem),
        })
    }
}

impl KekProvider for Vault {
    fn describe(&self) -> String {
        format!("vault:{}/{}", self.mount, self.key)
    }

    fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError> {
        let plaintext = Zeroizing::new(STANDARD.encode(key));
        let data = self.call("encrypt", "plaintext", &plaintext)?;
        if data.ciphertext.is_empty() {
            return Err(self.service.unreachable("the response has no ciphertext"));
        }
        Ok(data.ciphertext.into_bytes())
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        let ciphertext = String::from_utf8_lossy(wrapped);
        let data = self.call("decrypt", "ciphertext", &ciphertext)?;
        self.service.key(&data.plaintext)
    }
}

#[cfg(test)]
mod tests;
