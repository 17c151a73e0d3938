//! The credentials of an operator, and the operator that they identify.

use std::{net::IpAddr, sync::Arc};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use sealpost_domain::{Refusal, TextError, refuse_deceptive};
use zeroize::Zeroizing;

use super::password_file::{NAME_LEN_MAX, OperatorRole, PASSWORD_LEN_MAX};
use crate::{
    acts::audited::{Operator, OperatorError},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// Name and password of an operator, not verified. Both have a bounded length.
pub struct OperatorCredentials {
    pub(super) name: String,
    pub(super) password: Zeroizing<String>,
}

/// An operator with verified credentials or a verified session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedInOperator {
    /// The name in the password file.
    pub name: String,
    /// The role of the operator, which decides about the permitted actions.
    pub role: OperatorRole,
}

impl OperatorCredentials {
    /// Creates credentials. Returns `None` if the name or the password is empty, or longer than any valid one.
    pub fn new(name: &str, password: &str) -> Option<Self> {
        let is_well_formed = (1..=NAME_LEN_MAX).contains(&name.len())
            && (1..=PASSWORD_LEN_MAX).contains(&password.len());
        is_well_formed
            .then(|| Self { name: name.to_owned(), password: Zeroizing::new(password.to_owned()) })
    }

    /// Parses a bearer token: the base64 of `NAME:PASSWORD`, with or without padding. Returns `None` for any other
    /// text.
    pub fn from_bearer_token(token: &str) -> Option<Self> {
        if token.len() > TOKEN_LEN_MAX {
            return None;
        }
        let decoded = Zeroizing::new(BASE64.decode(token).ok()?);
        let (name, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
        Self::new(name, password)
    }
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Maximum length of a bearer token in bytes: the base64 of the longest name, a colon and the longest password.
const TOKEN_LEN_MAX: usize = (NAME_LEN_MAX + 1 + PASSWORD_LEN_MAX).div_ceil(3) * 4;

/// The operator of a request, and the details of the request that the audit trail records.
#[derive(Debug, Clone)]
pub struct OperatorCall {
    /// The operator who signed in.
    pub operator: SignedInOperator,
    /// The address of the client. `None` if it is unknown.
    pub client_address: Option<IpAddr>,
    /// The reason for the action. `None` for requests that change nothing.
    pub reason: Option<String>,
}

/// Checks the length of an operator's reason for an action, and refuses characters that could deceive its readers. The
/// error continues a sentence that starts with the name of the field.
pub fn check_reason(reason: &str) -> Result<(), TextError> {
    if !(1..=REASON_LEN_MAX).contains(&reason.chars().count()) {
        return Err(TextError::Length("1 to 1,000"));
    }
    refuse_deceptive(reason)
}

const REASON_LEN_MAX: usize = 1_000;

impl Sealpost {
    /// Performs the work of an operator on the blocking pool. The calling code must check the role of the operator
    /// first.
    pub async fn operate<T: Send + 'static>(
        &self,
        call: OperatorCall,
        work: impl FnOnce(&Operator) -> Result<T, OperatorError> + Send + 'static,
    ) -> Result<T, Error> {
        let work = move |core: &Arc<Core>| {
            let OperatorCall { operator, client_address, reason } = call;
            let actor = format!("console:{}", operator.name);
            let operator = Operator::new(Arc::clone(&core.store), Arc::clone(&core.clock), actor)
                .by_client(client_address, reason);
            Ok(work(&operator)?)
        };
        self.core.block(&self.core, work).await
    }
}

impl From<OperatorError> for Error {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::NotFound(what) => Refusal::SubjectNotFound(what).into(),
            OperatorError::Store(error) => error.into(),
            OperatorError::Wallet(error) => error.into(),
            refused @ (OperatorError::HandleInUse(_)
            | OperatorError::HasHandle(_)
            | OperatorError::IllegalTransition(_)
            | OperatorError::IssuerKeysFull
            | OperatorError::KekInUse { .. }
            | OperatorError::Pointless(_)) => Refusal::ActionRefused(refused.to_string()).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_a_limited_length_and_cannot_deceive() {
        assert_eq!(check_reason(&"ü\n".repeat(500)), Ok(()));
        for reason in ["", &"ü".repeat(1001)] {
            assert_eq!(check_reason(reason), Err(TextError::Length("1 to 1,000")));
        }
        assert_eq!(check_reason("a\0b"), Err(TextError::ControlCharacter));
        assert_eq!(check_reason("\u{200b}"), Err(TextError::NothingVisible));
        assert_eq!(check_reason("a\u{202e}b"), Err(TextError::Reordering('\u{202e}')));
    }

    #[test]
    fn a_bearer_token_is_the_base64_of_name_and_password() {
        let read = |token: &str| {
            OperatorCredentials::from_bearer_token(token)
                .map(|credentials| (credentials.name, credentials.password.to_string()))
        };
        let expected = Some(("alice".to_owned(), "pass:word".to_owned()));
        assert_eq!(read("YWxpY2U6cGFzczp3b3Jk"), expected);
        assert_eq!(read("YWxpY2U6cGFzczp3b3JkIQ=="), read("YWxpY2U6cGFzczp3b3JkIQ"));
        let long = "A".repeat(TOKEN_LEN_MAX + 4);
        for odd in ["", "alice:password", "YWxpY2U=", "YWxpY2U6", "OnBhc3M=", "/w==", &long] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
