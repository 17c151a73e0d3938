//! Reads headers that a request may have at most once.

use actix_web::http::header::{AsHeaderName, HeaderMap, HeaderValue};
use sealpost_domain::Refusal;

use super::fields::invalid;

/// Returns the value of a header, or `None` without the header. Refuses a repeated header as `INVALID_FIELD` with the
/// field `name`, even if its values are equal. Otherwise a proxy in front of the service could use one of the values,
/// and the service another one.
pub(super) fn single_header<'a>(
    headers: &'a HeaderMap,
    header: impl AsHeaderName,
    name: &'static str,
) -> Result<Option<&'a HeaderValue>, Refusal> {
    let mut values = headers.get_all(header);
    let value = values.next();
    if values.next().is_some() {
        return Err(invalid(name, "must be sent once"));
    }
    Ok(value)
}
