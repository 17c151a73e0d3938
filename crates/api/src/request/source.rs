//! Describes the client of a request, for the activity log of the account and the list of its sessions.

use actix_web::{HttpRequest, http::header};
use ipnet::IpNet;
use sealpost_domain::{RequestSource, UserAgent};

use super::client_address::client_address;
use crate::state::ApiState;

/// Returns the client address and the user agent of a request to the API or to a page.
pub fn request_source(app: &ApiState, request: &HttpRequest) -> RequestSource {
    source_behind(&app.trusted_proxies, request)
}

/// Returns the client address and the user agent of a request. Reads a forwarded client address only if the peer is in
/// `trusted_proxies`.
pub(crate) fn source_behind(trusted_proxies: &[IpNet], request: &HttpRequest) -> RequestSource {
    let headers = request.headers();
    let address =
        request.peer_addr().map(|peer| client_address(peer.ip(), headers, trusted_proxies));
    let user_agent =
        headers.get(header::USER_AGENT).and_then(|value| UserAgent::new(value.as_bytes()));
    RequestSource { address, user_agent }
}
