//! The provider `aws-kms`: a symmetric key of the AWS Key Management Service.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_domain::Clock;
use sealpost_wallet::{KekProvider, ProviderError};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    key_service::{KeyService, secret_text},
    sigv4::{Credentials, SignedRequest, amz_date, authorization},
};

/// A key of the AWS Key Management Service.
pub(crate) struct AwsKms {
    pub(crate) service: KeyService,
    /// The ARN of the key.
    pub(crate) key: String,
    pub(crate) region: String,
    /// The scheme and the authority of the service's URL.
    pub(crate) endpoint: String,
    /// The file with the credentials, in the format of `~/.aws/credentials`. The file is read for each call, so that
    /// another program can renew temporary credentials.
    pub(crate) credentials_file: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Request<'a> {
    key_id: &'a str,
    encryption_context: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    input: BTreeMap<&'a str, &'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Success {
    #[serde(default)]
    ciphertext_blob: String,
    #[serde(default, deserialize_with = "secret_text")]
    plaintext: Zeroizing<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    #[serde(rename = "__type")]
    kind: String,
    #[serde(alias = "Message")]
    message: String,
}

impl AwsKms {
    /// Calls the action `Encrypt` or `Decrypt` with the key. `field` is the name of the input in the request, and
    /// `base64` its value. Both actions send the same encryption context, so the service decrypts no ciphertext that
    /// was made for another purpose.
    fn call(&self, action: &str, field: &str, base64: &str) -> Result<Success, ProviderError> {
        let Self { service, key, region, endpoint, .. } = self;
        let body = service.json(&Request {
            key_id: key,
            encryption_context: BTreeMap::from([("sealpost", "key-encryption key")]),
            input: BTreeMap::from([(field, base64)]),
        })?;
        let (credentials, time) = (self.credentials()?, amz_date(self.clock.now()));
        let target = format!("TrentService.{action}");
        let host = endpoint.split_once("://").map_or(endpoint.as_str(), |(_, host)| host);
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.1"),
            ("host", host),
            ("x-amz-date", &time),
        ];
        if let Some(token) = &credentials.session_token {
            headers.push(("x-amz-security-token", token));
        }
        headers.push(("x-amz-target", &target));
        let request = SignedRequest {
            method: "POST",
            headers,
            body: &body,
            region,
            service: "kms",
            time: &time,
        };
        let signature = authorization(&request, &credentials);
        let mut headers = request.headers;
        headers.retain(|(name, _)| *name != "host");
        headers.push(("authorization", &signature));
        let reply = service.post(&format!("{endpoint}/"), &headers, &body)?;
        if reply.status == 200 {
            let invalid = |_| service.unreachable("the response is not that of the service");
            return serde_json::from_slice(&reply.body).map_err(invalid);
        }
        Err(self.failure(reply.status, &reply.body))
    }

    fn failure(&self, status: u16, body: &[u8]) -> ProviderError {
        let Failure { kind, message } = serde_json::from_slice(body).unwrap_or_default();
        let kind = kind.rsplit_once('#').map_or(kind.as_str(), |(_, kind)| kind);
        let problem = format!("status {status}: {kind} {message}");
        if status == 403 || REFUSALS.contains(&kind) {
            self.service.refused(&problem)
        } else {
            self.service.unreachable(&problem)
        }
    }

    fn credentials(&self) -> Result<Credentials, ProviderError> {
        let text = self.service.read(&self.credentials_file)?;
        let find = |name| member_of_first_profile(&text, name);
        let (Some(id), Some(secret)) = (find("aws_access_key_id"), find("aws_secret_access_key"))
        else {
            let file = self.credentials_file.display();
            return Err(self.service.unreachable(&format!(
                "the file {file} lacks aws_access_key_id or aws_secret_access_key"
            )));
        };
        Ok(Credentials {
            access_key_id: id.to_owned(),
            secret_access_key: Zeroizing::new(secret.to_owned()),
            session_token: find("aws_session_token").map(|token| Zeroizing::new(token.to_owned())),
        })
    }
}

/// Returns the value of a member in the first profile of a credentials file. Ignores members of later profiles, because
/// a session token is valid only with the keys of its own profile.
fn member_of_first_profile<'text>(text: &'text str, name: &str) -> Option<&'text str> {
    let mut profiles = 0;
    let first = text.lines().take_while(|line| {
        profiles += u32::from(line.trim_start().starts_with('['));
        profiles < 2
    });
    let mut members = first.filter_map(|line| line.split_once('='));
    members.find_map(|(key, value)| (key.trim() == name).then(|| value.trim()))
}

impl KekProvider for AwsKms {
    fn describe(&self) -> String {
        format!("aws-kms:{}", self.key)
    }

    fn wrap(&self, key: &[u8; 32]) -> Result<Vec<u8>, ProviderError> {
        let plaintext = Zeroizing::new(STANDARD.encode(key));
        let success = self.call("Encrypt", "Plaintext", &plaintext)?;
        match STANDARD.decode(success.ciphertext_blob) {
            Ok(wrapped) if !wrapped.is_empty() => Ok(wrapped),
            Ok(_) | Err(_) => Err(self.service.unreachable("the response has no ciphertext")),
        }
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
        let success = self.call("Decrypt", "CiphertextBlob", &STANDARD.encode(wrapped))?;
        self.service.key(&success.plaintext)
    }
}

impl fmt::Debug for AwsKms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsKms").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The names of errors with which AWS refuses the use of the key, so that a retry is useless. All other errors may be
/// temporary.
const REFUSALS: [&str; 9] = [
    "AccessDeniedException",
    "DisabledException",
    "IncorrectKeyException",
    "InvalidCiphertextException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "KMSInvalidStateException",
    "NotFoundException",
    "UnrecognizedClientException",
];

#[cfg(test)]
mod tests {
    use super::member_of_first_profile;

    #[test]
    fn only_the_first_profile_counts() {
        let text = "# keys\n[default]\naws_access_key_id = first\n\n[other]\naws_access_key_id=other\naws_session_token=token\n";
        assert_eq!(member_of_first_profile(text, "aws_access_key_id"), Some("first"));
        assert_eq!(member_of_first_profile(text, "aws_session_token"), None);
        let without_profile = "aws_session_token=token\n";
        assert_eq!(member_of_first_profile(without_profile, "aws_session_token"), Some("token"));
    }
}
