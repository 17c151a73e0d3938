//! The names of key providers in settings, such as `exec:/usr/local/bin/sealpost-kek`.

use std::{fmt, path::PathBuf, str::FromStr, sync::Arc};

use sealpost_domain::Clock;
use sealpost_wallet::KekProvider;
use url::Url;

use crate::{
    aws_kms::AwsKms, exec::Exec, key_service::KeyService, pkcs11::Pkcs11, quorum::Quorum,
    vault::Vault,
};

/// Selects a key provider, and the key of the provider that wraps the key-encryption keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderName {
    /// A key of the AWS Key Management Service.
    AwsKms {
        /// The ARN of the key.
        key: String,
        /// The region in the ARN.
        region: String,
        /// URL of the service. `None` selects the URL of the region.
        endpoint: Option<String>,
        /// The file with the credentials.
        credentials_file: PathBuf,
        /// PEM file of the certificate authorities to trust instead of the public authorities.
        ca_file: Option<PathBuf>,
    },
    /// A command, with its arguments.
    Exec(Vec<String>),
    /// An AES key of a hardware security module.
    Pkcs11(Pkcs11),
    /// A wrapping key that is split by Shamir's secret sharing.
    Quorum(Quorum),
    /// A key of the transit engine of Vault or `OpenBao`.
    Vault(Vault),
}

/// The reason why a setting does not name a key provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text after `aws-kms:` is not an ARN of a key, or a parameter is missing or unknown.
    #[error(
        "give aws-kms:ARN?credentials_file=FILE, with the ARN of a key: arn:aws:kms:REGION:ACCOUNT:key/ID"
    )]
    AwsKms,
    /// The path of the command is missing or not absolute.
    #[error("give the absolute path of the command, such as exec:/usr/local/bin/sealpost-kek")]
    Command,
    /// The URL of the service does not begin with `https://`. `http://` is allowed only for loopback addresses.
    #[error("give a URL that begins with https://, or http:// on a loopback address")]
    Insecure,
    /// The text after `pkcs11:` is no absolute path, or a parameter is missing or unknown.
    #[error("give pkcs11:/PATH/LIBRARY.so?token=LABEL&key=LABEL&pin_file=FILE")]
    Pkcs11,
    /// The text after `quorum:` is not the id of a split wrapping key.
    #[error("give the quorum:ID that `sealpost kek shares` has printed")]
    Quorum,
    /// No provider has this name.
    #[error(
        "{0:?} is no key provider: give aws-kms:ARN, exec:COMMAND, pkcs11:LIBRARY, quorum:ID or vault:URL"
    )]
    Unknown(String),
    /// The text after `vault:` is not the URL of a key, or a parameter is missing or unknown.
    #[error("give vault:https://HOST:8200/MOUNT/KEY?token_file=FILE")]
    Vault,
}

impl ProviderName {
    /// Creates the provider. Sends no request to the provider.
    pub fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn KekProvider> {
        match self.clone() {
            Self::AwsKms { key, region, endpoint, credentials_file, ca_file } => Arc::new(AwsKms {
                service: KeyService { name: "aws-kms", ca_file },
                endpoint: endpoint
                    .unwrap_or_else(|| format!("https://kms.{region}.{}", suffix(&region))),
                key,
                region,
                credentials_file,
                clock,
            }),
            Self::Exec(words) => Arc::new(Exec::new(words)),
            Self::Pkcs11(pkcs11) => Arc::new(pkcs11),
            Self::Quorum(quorum) => Arc::new(quorum),
            Self::Vault(vault) => Arc::new(vault),
        }
    }
}

impl FromStr for ProviderName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.split_once(':') {
            Some(("aws-kms", rest)) => parse_aws_kms(rest),
            // The command is split at white space and started without a shell, so an argument cannot contain a space.
            Some(("exec", command)) => {
                let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
                match words.first() {
                    Some(program) if program.starts_with('/') => Ok(Self::Exec(words)),
                    Some(_) | None => Err(NameError::Command),
                }
            }
            Some(("pkcs11", rest)) => parse_pkcs11(rest),
            Some(("quorum", id)) => match id.parse() {
                Ok(id) => Ok(Self::Quorum(Quorum::new(id))),
                Err(_invalid) => Err(NameError::Quorum),
            },
            Some(("vault", rest)) => parse_vault(rest),
            // Only the name: the rest can be a URL with a password.
            Some((name, _)) => Err(NameError::Unknown(name.to_owned())),
            None => Err(NameError::Unknown(text.to_owned())),
        }
    }
}

fn parse_aws_kms(text: &str) -> Result<ProviderName, NameError> {
    let (key, query) = text.split_once('?').ok_or(NameError::AwsKms)?;
    let parts: Vec<_> = key.split(':').collect();
    let region = match parts.as_slice() {
        ["arn", _, "kms", region, account, resource]
            if !region.is_empty() && !account.is_empty() && resource.starts_with("key/") =>
        {
            (*region).to_owned()
        }
        _ => return Err(NameError::AwsKms),
    };
    let names = ["credentials_file", "ca_file", "endpoint"];
    let [credentials_file, ca_file, endpoint] =
        parameters(query, names).ok_or(NameError::AwsKms)?;
    let credentials_file = PathBuf::from(credentials_file.unwrap_or_default());
    let ca_file = ca_file.map(PathBuf::from);
    let endpoint = endpoint.map(|text| secure_url(&text)).transpose()?;
    if credentials_file.as_os_str().is_empty() {
        return Err(NameError::AwsKms);
    }
    let (key, endpoint) = (key.to_owned(), endpoint.as_ref().map(address_of));
    Ok(ProviderName::AwsKms { key, region, endpoint, credentials_file, ca_file })
}

fn parse_pkcs11(text: &str) -> Result<ProviderName, NameError> {
    let (library, query) = text.split_once('?').ok_or(NameError::Pkcs11)?;
    let values = parameters(query, ["token", "key", "pin_file"]).ok_or(NameError::Pkcs11)?;
    let [token, key, pin_file] = values.map(Option::unwrap_or_default);
    if !library.starts_with('/') || token.is_empty() || key.is_empty() || pin_file.is_empty() {
        return Err(NameError::Pkcs11);
    }
    let (library, pin_file) = (PathBuf::from(library), PathBuf::from(pin_file));
    Ok(ProviderName::Pkcs11(Pkcs11 { library, token, key, pin_file }))
}

fn parse_vault(text: &str) -> Result<ProviderName, NameError> {
    let url = secure_url(text)?;
    let query = url.query().unwrap_or_default();
    let [token_file, ca_file] =
        parameters(query, ["token_file", "ca_file"]).ok_or(NameError::Vault)?;
    let token_file = PathBuf::from(token_file.unwrap_or_default());
    match url.path().trim_matches('/').rsplit_once('/') {
        Some((mount, key)) if !key.is_empty() && !token_file.as_os_str().is_empty() => {
            let service = KeyService { name: "vault", ca_file: ca_file.map(PathBuf::from) };
            let (address, mount, key) = (address_of(&url), mount.to_owned(), key.to_owned());
            Ok(ProviderName::Vault(Vault { service, address, mount, key, token_file }))
        }
        Some(_) | None => Err(NameError::Vault),
    }
}

/// Returns the values of the query parameters `names`. `None` if the query has a parameter with another name.
fn parameters<const N: usize>(query: &str, names: [&str; N]) -> Option<[Option<String>; N]> {
    let mut values = names.map(|_| None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let place = names.iter().position(|known| *known == name)?;
        *values.get_mut(place)? = Some(value.into_owned());
    }
    Some(values)
}

fn secure_url(text: &str) -> Result<Url, NameError> {
    let url = Url::parse(text).ok().ok_or(NameError::Insecure)?;
    let is_loopback = match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => return Err(NameError::Insecure),
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback => Ok(url),
        _ => Err(NameError::Insecure),
    }
}

/// Returns the scheme and the authority of a URL.
fn address_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Returns the domain of the AWS endpoints of a region.
fn suffix(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query = |pairs: &[(&str, Option<String>)]| {
            let given = pairs.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?)));
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
        };
        let path = |file: &PathBuf| file.display().to_string();
        match self {
            Self::AwsKms { key, endpoint, credentials_file, ca_file, .. } => {
                let query = query(&[
                    ("credentials_file", Some(path(credentials_file))),
                    ("ca_file", ca_file.as_ref().map(path)),
                    ("endpoint", endpoint.clone()),
                ]);
                write!(f, "aws-kms:{key}?{query}")
            }
            Self::Exec(words) => write!(f, "exec:{}", words.join(" ")),
            Self::Pkcs11(Pkcs11 { library, token, key, pin_file }) => {
                let query = query(&[
                    ("token", Some(token.clone())),
                    ("key", Some(key.clone())),
                    ("pin_file", Some(path(pin_file))),
                ]);
                write!(f, "pkcs11:{}?{query}", library.display())
            }
            Self::Quorum(quorum) => quorum.fmt(f),
            Self::Vault(Vault { service, address, mount, key, token_file }) => {
                let ca_file = service.ca_file.as_ref().map(path);
                let query = query(&[("token_file", Some(path(token_file))), ("ca_file", ca_file)]);
                write!(f, "vault:{address}/{mount}/{key}?{query}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_parsed_and_written_alike() {
        for text in [
            "exec:/bin/kek  --key 7",
            "vault:https://vault.example.com:8200/team/transit/sealpost?token_file=/run/token",
            "vault:http://127.0.0.1:8200/transit/sealpost?token_file=/t&ca_file=/etc/ca.pem",
            "aws-kms:arn:aws:kms:eu-west-1:111122223333:key/1234abcd?credentials_file=/run/aws",
            "aws-kms:arn:aws:kms:eu-west-1:1:key/1?credentials_file=/a&endpoint=http://localhost:5000",
            "pkcs11:/usr/lib/softhsm/libsofthsm2.so?token=team+a&key=sealpost&pin_file=/run/pin",
            "quorum:0123456789abcdef",
        ] {
            let name: ProviderName = text.parse().unwrap();
            assert_eq!(name.to_string().parse(), Ok(name), "{text}");
        }
    }

    #[test]
    fn an_invalid_name_is_rejected_with_advice() {
        for (text, advice) in [
            ("exec:", "absolute path"),
            ("exec:kek", "absolute path"),
            ("pkcs11:lib.so?token=a&key=b&pin_file=/c", "/PATH/LIBRARY"),
            ("pkcs11:/lib.so?token=a&key=b&pin=1234", "pin_file"),
            ("quorum:2", "sealpost kek shares"),
            ("abacus:1", "exec:COMMAND"),
            ("abacus:https://u:secret@abacus.example", "exec:COMMAND"),
            ("", "exec:COMMAND"),
            ("vault:https://vault/transit/key", "token_file"),
            ("vault:https://vault/key?token_file=/t", "MOUNT/KEY"),
            ("vault:https://vault/transit/key?token=secret", "token_file"),
            ("vault:http://vault/transit/key?token_file=/t", "https://"),
            ("aws-kms:arn:aws:kms:eu-west-1:1:key/1", "credentials_file"),
            ("aws-kms:arn:aws:s3:eu-west-1:1:key/1?credentials_file=/a", "arn:aws:kms"),
            (
                "aws-kms:arn:aws:kms:eu-west-1:1:key/1?credentials_file=/a&endpoint=http://kms",
                "https://",
            ),
        ] {
            let fault = text.parse::<ProviderName>().unwrap_err();
            assert!(fault.to_string().contains(advice), "{text}: {fault}");
            assert!(!fault.to_string().contains("secret"), "{text}: {fault}");
        }
    }
}
