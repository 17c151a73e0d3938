//! Signs requests with AWS Signature Version 4.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sealpost_domain::Timestamp;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// The AWS credentials that sign a request.
pub(crate) struct Credentials {
    pub(crate) access_key_id: String,
    pub(crate) secret_access_key: Zeroizing<String>,
    /// Only temporary credentials have a session token.
    pub(crate) session_token: Option<Zeroizing<String>>,
}

/// A request to sign. Its path is `/`, and it has no query.
pub(crate) struct SignedRequest<'a> {
    pub(crate) method: &'static str,
    /// The headers to sign, with names in lower case, sorted by name.
    pub(crate) headers: Vec<(&'a str, &'a str)>,
    pub(crate) body: &'a [u8],
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
    /// The time in the header `x-amz-date`.
    pub(crate) time: &'a str,
}

/// Formats a time for the header `x-amz-date`, such as `20150830T123600Z`.
pub(crate) fn amz_date(now: Timestamp) -> String {
    let digits = |part: &str| part.replace(['-', ':'], "");
    let text = now.to_string();
    let (seconds, _) = text.split_once('.').unwrap_or((&text, ""));
    digits(seconds) + "Z"
}

/// Returns the value of the header `authorization`.
pub(crate) fn authorization(request: &SignedRequest<'_>, credentials: &Credentials) -> String {
    let names: Vec<_> = request.headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let headers: String =
        request.headers.iter().flat_map(|(name, value)| [name, ":", value.trim(), "\n"]).collect();
    let body = hex::encode(Sha256::digest(request.body));
    let canonical = format!("{}\n/\n\n{headers}\n{names}\n{body}", request.method);
    let SignedRequest { region, service, time, .. } = request;
    let (date, _) = time.split_once('T').unwrap_or((time, ""));
    let scope = format!("{date}/{region}/{service}/aws4_request");
    let canonical = hex::encode(Sha256::digest(canonical));
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{canonical}");
    let key = signing_key(&credentials.secret_access_key, [date, region, service]);
    let signature = hex::encode(*code(&key, &text));
    format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        credentials.access_key_id
    )
}

fn signing_key(secret: &str, scope: [&str; 3]) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(format!("AWS4{secret}").into_bytes());
    for part in scope.into_iter().chain(["aws4_request"]) {
        key = Zeroizing::new(code(&key, part).to_vec());
    }
    key
}

fn code(key: &[u8], text: &str) -> Zeroizing<[u8; 32]> {
    // Never fails, because HMAC accepts keys of every length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Zeroizing::default() };
    mac.update(text.as_bytes());
    Zeroizing::new(mac.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials() -> Credentials {
        Credentials {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: Zeroizing::new(
                "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            ),
            session_token: None,
        }
    }

    /// Tests the example of the AWS documentation, "Examples of how to derive a signing key".
    #[test]
    fn the_documented_signing_key_is_derived() {
        let key = signing_key(&credentials().secret_access_key, ["20150830", "us-east-1", "iam"]);
        let expected = "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9";
        assert_eq!(hex::encode(&*key), expected);
    }

    /// Tests the cases `get-vanilla`, `post-vanilla` and `post-x-www-form-urlencoded` of the AWS Signature Version 4
    /// test suite.
    #[test]
    fn the_published_vectors_hold() {
        let time = "20150830T123600Z";
        let plain = vec![("host", "example.amazonaws.com"), ("x-amz-date", time)];
        let form = [vec![("content-type", "application/x-www-form-urlencoded")], plain.clone()];
        for (method, headers, body, signature) in [
            (
                "GET",
                plain.clone(),
                "",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            ("POST", plain, "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "POST",
                form.concat(),
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ] {
            let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
            let names = names.join(";");
            let request = SignedRequest {
                method,
                headers,
                body: body.as_bytes(),
                region: "us-east-1",
                service: "service",
                time,
            };
            assert_eq!(
                authorization(&request, &credentials()),
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                     SignedHeaders={names}, Signature={signature}"
                )
            );
        }
    }

    #[test]
    fn a_time_has_the_format_of_the_header() {
        assert_eq!(amz_date(Timestamp::from_millis(1_440_938_160_999)), "20150830T123600Z");
    }
}
