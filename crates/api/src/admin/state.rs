//! The state that the console and the API for operators share.

use std::sync::OnceLock;

use actix_web::{HttpRequest, web};
use ipnet::IpNet;
use sealpost_domain::{Code, Refusal, RequestSource};
use sealpost_service::{
    AccessSettings, Error, OperatorAccess, OperatorCredentials, OperatorSession, PasswordFile,
    SignedInOperator,
};

use crate::{
    admission::{OperatorName, admit_sign_in},
    request::source_behind,
    response::{Problem, StaticContent},
    state::ApiState,
    throttle::Throttle,
};

/// The settings of the console and the API for operators.
#[derive(Debug, Clone, Copy)]
pub struct AdminSettings {
    /// The settings of operators' sessions, and of the verification of passwords.
    pub access: AccessSettings,
    /// The maximum number of sign-ins per minute, client address and operator. An API request also counts as a sign-in,
    /// unless its credentials were verified before. 0 turns the limit off.
    pub sign_ins_per_minute: u32,
}

impl Default for AdminSettings {
    fn default() -> Self {
        Self { access: AccessSettings::default(), sign_ins_per_minute: 10 }
    }
}

/// The state that the console and the API for operators share.
pub struct AdminState {
    /// The state of the public API.
    pub api: web::Data<ApiState>,
    /// The URL at which the console and the API for operators are served, without a trailing slash.
    pub url: String,
    /// Verifies the credentials and the sessions of operators.
    pub access: OperatorAccess,
    sign_ins: Throttle<(IpNet, OperatorName)>,
    /// The networks of the proxies that are trusted to report the client address. Empty if `url` is not https: the
    /// server then has no proxy in front of it, and any program on the machine could forge an address.
    trusted_proxies: Vec<IpNet>,
    /// The OpenAPI document, rendered at the first request.
    pub(super) document: OnceLock<StaticContent>,
}

impl AdminState {
    /// Creates the state. `url` is the URL at which the console and the API for operators are served. Fails if the
    /// random source fails.
    pub fn new(
        api: web::Data<ApiState>,
        url: String,
        file: PasswordFile,
        settings: AdminSettings,
    ) -> Result<Self, Error> {
        let AdminSettings { access, sign_ins_per_minute } = settings;
        let access = api.sealpost.operator_access(file, access)?;
        let sign_ins = Throttle::new(sign_ins_per_minute);
        let trusted_proxies =
            if url.starts_with("https:") { api.trusted_proxies().to_vec() } else { Vec::new() };
        Ok(Self { api, url, access, sign_ins, trusted_proxies, document: OnceLock::new() })
    }

    /// Verifies a name and a password, and creates a console session. Counts against the sign-in limit of the client
    /// address for this name. Fails if the credentials are wrong, or if the limit is reached.
    pub async fn sign_in(
        &self,
        request: &HttpRequest,
        name: &str,
        password: &str,
    ) -> Result<OperatorSession, Problem> {
        let credentials = OperatorCredentials::new(name, password).ok_or(WRONG)?;
        let known_name = self.access.known_name(&credentials);
        let signed_in = self.access.sign_in(credentials);
        // The name of a failed sign-in is not logged, because the operator may have typed the password into the field
        // of the name.
        let failure = "a sign-in of an operator failed";
        let signed_in = self.count_sign_in(request, known_name, failure, signed_in).await?;
        tracing::info!(operator.name = name, "an operator signed in to the console");
        Ok(signed_in)
    }

    /// Verifies the bearer token of a request, and returns its operator. Fails if the token is missing or wrong. Counts
    /// against the sign-in limit of the client address for this name, unless the same credentials were verified before.
    pub(super) async fn authenticate(
        &self,
        request: &HttpRequest,
        token: Option<&str>,
    ) -> Result<SignedInOperator, Problem> {
        let token = token.ok_or(MISSING)?;
        let credentials = OperatorCredentials::from_bearer_token(token);
        if let Some(operator) = credentials.as_ref().and_then(|known| self.access.recall(known)) {
            return Ok(operator);
        }
        let credentials = credentials.ok_or(WRONG)?;
        let known_name = self.access.known_name(&credentials);
        let verified = self.access.verify(credentials);
        let failure = "the credentials of a request to the operator API are wrong";
        self.count_sign_in(request, known_name, failure, verified).await
    }

    /// Awaits `signed_in`, the verification of credentials, and returns its result. If the client address has reached
    /// its limit for the name, fails without a verification. Each known name has its own limit, so attempts with other
    /// names cannot lock out an operator.
    ///
    /// All unknown names share one limit. A wrong password for a known name also counts against this limit. So known
    /// and unknown names are refused with the same status after the same number of attempts.
    ///
    /// Over the shared limit, the response time reveals whether a name exists. The password of a known name is still
    /// verified. Unknown names are refused at once, because the verifications of an attack would delay the sign-ins of
    /// operators.
    async fn count_sign_in<T>(
        &self,
        request: &HttpRequest,
        known_name: OperatorName,
        failure: &'static str,
        signed_in: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Problem> {
        let client = self.source(request).address.ok_or(Problem::Lost)?;
        admit_sign_in(&self.api, client, &known_name, &self.sign_ins)?;
        let signed_in = signed_in.await;
        let code = signed_in.as_ref().err().and_then(Error::refusal).map(Refusal::code);
        if code == Some(Code::Unauthorized) {
            tracing::warn!(client = %client, "{failure}");
            if known_name.is_some() {
                admit_sign_in(&self.api, client, &None, &self.sign_ins)?;
            }
        }
        Ok(signed_in?)
    }

    /// Returns the client address and the user agent of a request to the console or to the API for operators.
    pub fn source(&self, request: &HttpRequest) -> RequestSource {
        source_behind(&self.trusted_proxies, request)
    }
}

const WRONG: Refusal = Refusal::Unauthorized(
    "the name or the password is wrong; send Bearer and the base64 of NAME:PASSWORD",
);
const MISSING: Refusal = Refusal::Unauthorized(
    "the credentials are missing; send Authorization: Bearer and the base64 of NAME:PASSWORD",
);
