//! Extractors for requests of operators, which verify the credentials before they read the body. Also the pages of
//! lists.

use std::net::IpAddr;

use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use futures_util::future::LocalBoxFuture;
use schemars::JsonSchema;
use sealpost_domain::Refusal;
use sealpost_service::{
    ListPage, Operator, OperatorCall, OperatorError, OperatorRole, SignedInOperator, check_reason,
};
use serde::Serialize;

use super::state::AdminState;
use crate::{
    endpoint::Endpoint,
    openapi::Operation,
    request::{Fields, Member, NumberUpTo, RequestBody, bearer_token, invalid, read_small_body},
    response::Problem,
};

/// The maximum number of entries in a response.
pub(super) type PageLimit = NumberUpTo<1_000, 100>;

/// One page of a list, newest entries first.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "{T}Page")]
pub(super) struct Page<T> {
    /// The entries, newest first.
    pub(super) entries: Vec<T>,
    /// The `cursor` for the request of the next page. `null` on the last page.
    pub(super) next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Creates the response. `id` returns the id of the last entry, which becomes the cursor of the next page.
    pub(super) fn new(page: ListPage<T>, id: impl FnOnce(&T) -> String) -> Self {
        let ListPage { entries, more } = page;
        let next_cursor = entries.last().filter(|_| more).map(id);
        Self { entries, next_cursor }
    }
}

/// A request of an operator. If `IS_ACT` is true, the request changes data, and is refused unless the operator has the
/// role `operator`.
struct OperatorRequest<B, const IS_ACT: bool> {
    admin: web::Data<AdminState>,
    operator: SignedInOperator,
    client_address: Option<IpAddr>,
    body: B,
}

/// The reason for a change, for the audit trail.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(transparent)]
pub(super) struct Reason(#[schemars(length(min = 1, max = 1000))] pub(super) String);

impl Member for Reason {
    const IS_REQUIRED: bool = true;

    fn read(fields: &mut Fields, field: &'static str) -> Result<Self, Refusal> {
        let text = fields.text(field)?.trim().to_owned();
        if text.is_empty() {
            return Err(Refusal::MissingField { field });
        }
        check_reason(&text).map_err(|fault| invalid(field, fault.to_string()))?;
        Ok(Self(text))
    }
}

/// Returns the endpoint of a query, which an operator in any role can send.
pub(super) fn query<B: RequestBody + Send, T: Serialize + Send + 'static>(
    operation: Operation,
    query: fn(&Operator, B) -> Result<T, OperatorError>,
) -> Endpoint {
    serve::<_, _, false>(operation.operator(), query, |_| None)
}

/// Returns the endpoint of an admin action, which only an operator with the role `operator` can send. The audit trail
/// records the operator, the client address and the reason.
pub(super) fn act<B: RequestBody + Send, T: Serialize + Send + 'static>(
    operation: Operation,
    act: impl Fn(&Operator, B) -> Result<T, OperatorError> + Copy + Send + 'static,
    reason: fn(&B) -> &Reason,
) -> Endpoint {
    serve::<_, _, true>(operation.acting_operator(), act, move |body| Some(reason(body).0.clone()))
}

fn serve<B: RequestBody + Send, T: Serialize + Send + 'static, const IS_ACT: bool>(
    operation: Operation,
    perform: impl Fn(&Operator, B) -> Result<T, OperatorError> + Copy + Send + 'static,
    reason: impl Fn(&B) -> Option<String> + Copy + 'static,
) -> Endpoint {
    let handler = move |request: OperatorRequest<B, IS_ACT>| async move {
        let OperatorRequest { admin, operator, client_address, body } = request;
        let call = OperatorCall { operator, client_address, reason: reason(&body) };
        let sealpost = &admin.api.sealpost;
        Ok::<_, Problem>(web::Json(
            sealpost.operate(call, move |operator| perform(operator, body)).await?,
        ))
    };
    Endpoint { operation, route: web::route().to(handler) }
}

impl<B: RequestBody, const IS_ACT: bool> FromRequest for OperatorRequest<B, IS_ACT> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let admin = request.app_data::<web::Data<AdminState>>().cloned();
            let admin = admin.ok_or(Problem::Lost)?;
            let token = bearer_token(request.headers())?;
            authorize::<IS_ACT>(&admin, &request, token.as_deref()).await?;
            let body = read_small_body(&admin.api, &request, &mut payload).await?;
            // Verifies the operator again, because the password file may have changed while the body was received. If
            // the file has not changed, the result comes from the cache.
            let operator = authorize::<IS_ACT>(&admin, &request, token.as_deref()).await?;
            let body = Fields::parse(&body)?.into_body_without_key()?;
            let client_address = admin.source(&request).address;
            Ok(Self { admin, operator, client_address, body })
        })
    }
}

/// Verifies the credentials of a request. If `IS_ACT` is true, also refuses an operator whose role allows no changes.
async fn authorize<const IS_ACT: bool>(
    admin: &AdminState,
    request: &HttpRequest,
    token: Option<&str>,
) -> Result<SignedInOperator, Problem> {
    let operator = admin.authenticate(request, token).await?;
    if IS_ACT && operator.role != OperatorRole::Operator {
        return Err(Refusal::RoleInsufficient.into());
    }
    Ok(operator)
}
