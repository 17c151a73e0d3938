//! Determines the client address, for rate limits. Without a trusted proxy, it is the address of the peer. Behind
//! trusted proxies, it comes from `Forwarded` or `X-Forwarded-For`. These headers list hops: addresses from which a
//! proxy received the request. The client address is the rightmost hop that is no trusted proxy. Clients can forge all
//! hops further left.

use std::net::{IpAddr, SocketAddr};

use actix_web::{
    HttpRequest,
    http::header::{self, HeaderMap, HeaderName},
};
use ipnet::IpNet;
use sealpost_domain::{RequestSource, UserAgent};

use super::forwarded;
use crate::state::ApiState;

/// Returns the client address of a request from `peer`. Reads the headers only if `peer` is in a trusted network.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let has = |name: &HeaderName| headers.contains_key(name);
    let by_forwarded = || client_of(peer, forwarded_hops(headers), trusted);
    let by_x_forwarded_for = || client_of(peer, x_forwarded_for_hops(headers), trusted);
    match (has(&header::FORWARDED), has(&X_FORWARDED_FOR)) {
        (false, false) => peer,
        (true, false) => by_forwarded(),
        (false, true) => by_x_forwarded_for(),
        // A proxy may write only one of the headers, and pass on the other header from the client. Therefore the
        // headers are used only if both give the same address.
        (true, true) => {
            Some(by_forwarded()).filter(|address| *address == by_x_forwarded_for()).unwrap_or(peer)
        }
    }
}

/// Returns the rightmost hop outside the `trusted` networks. If there is none, returns the leftmost hop. Ignores an
/// unreadable hop (`None`) and all hops to its left. If no hop remains, returns `peer`.
fn client_of(peer: IpAddr, hops: Vec<Option<IpAddr>>, trusted: &[IpNet]) -> IpAddr {
    let mut client = peer;
    for hop in hops.into_iter().rev() {
        let Some(hop) = hop else { return client };
        client = hop;
        if !is_trusted(hop, trusted) {
            return client;
        }
    }
    client
}

/// Returns the hops of all `X-Forwarded-For` lines, from left to right. `None` is an unreadable hop.
fn x_forwarded_for_hops(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let mut hops = Vec::new();
    for line in headers.get_all(X_FORWARDED_FOR) {
        match line.to_str() {
            Ok(line) => hops.extend(line.split(',').map(|hop| address(hop.trim()))),
            Err(_unreadable) => hops.push(None),
        }
    }
    hops
}

fn forwarded_hops(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let mut hops = Vec::new();
    for line in headers.get_all(header::FORWARDED) {
        match line.to_str().ok().and_then(forwarded::nodes) {
            Some(nodes) => hops.extend(nodes.iter().map(|node| address(node.as_deref()?))),
            None => hops.push(None),
        }
    }
    hops
}

/// Parses an IP address, with or without port and brackets.
fn address(text: &str) -> Option<IpAddr> {
    let bare = || text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let in_brackets = || {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        inner.parse::<std::net::Ipv6Addr>().ok().map(IpAddr::V6)
    };
    bare().or_else(with_port).or_else(in_brackets).map(|address| address.to_canonical())
}

fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|net| net.contains(&address))
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the client address and the user agent of a request to the API or to a page.
pub fn request_source(app: &ApiState, request: &HttpRequest) -> RequestSource {
    source_behind(app.trusted_proxies(), request)
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

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    /// Returns the client address of a request from `peer`, if `10.0.0.0/8` and `fd00::/8` are trusted proxies.
    fn seen(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    fn by_x(peer: &str, value: &str) -> String {
        seen(peer, &[("x-forwarded-for", value)])
    }

    #[test]
    fn only_the_headers_of_a_trusted_proxy_count() {
        assert_eq!(by_x("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(seen("192.0.2.1", &[("forwarded", "for=198.51.100.7")]), "192.0.2.1");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(by_x("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(by_x("::ffff:10.0.0.1", "::ffff:198.51.100.7"), "198.51.100.7");
    }

    #[test]
    fn hops_that_the_client_wrote_are_ignored() {
        assert_eq!(by_x("10.0.0.1", "127.0.0.1, 198.51.100.7"), "198.51.100.7");
        assert_eq!(by_x("10.0.0.1", "127.0.0.1, 198.51.100.7, 10.9.9.9"), "198.51.100.7");
        let lines = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "198.51.100.7")];
        assert_eq!(seen("10.0.0.1", &lines), "198.51.100.7");
        // The client forged the trusted address, because it is to the left of the hop that the proxy wrote.
        assert_eq!(by_x("10.0.0.1", "10.1.1.1, 198.51.100.7"), "198.51.100.7");
    }

    #[test]
    fn an_unreadable_hop_gives_the_last_trusted_hop() {
        for unreadable in ["", "unknown", "198.51.100", "198.51.100.7, ", "[::1", "a.example"] {
            assert_eq!(by_x("10.0.0.1", unreadable), "10.0.0.1", "{unreadable}");
        }
        assert_eq!(by_x("10.0.0.1", "1.1.1.1, rubbish, 10.0.0.2"), "10.0.0.2");
        assert_eq!(by_x("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3");
    }

    #[test]
    fn ports_and_brackets_are_ignored() {
        for hop in ["2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:4711"] {
            assert_eq!(by_x("fd00::1", hop), "2001:db8::7", "{hop}");
        }
        assert_eq!(by_x("fd00::1", "198.51.100.7:4711"), "198.51.100.7");
        let quoted = [("forwarded", r#"proto=https;For="[2001:db8::7]:4711";by=_p"#)];
        assert_eq!(seen("fd00::1", &quoted), "2001:db8::7");
    }

    #[test]
    fn forwarded_is_read_like_x_forwarded_for() {
        let by = |value: &str| seen("10.0.0.1", &[("forwarded", value)]);
        assert_eq!(by("for=1.1.1.1, for=198.51.100.7;proto=http, for=10.0.0.2"), "198.51.100.7");
        assert_eq!(by("for=198.51.100.7, for=unknown"), "10.0.0.1");
        assert_eq!(by("for=198.51.100.7, for=_hidden, for=10.0.0.2"), "10.0.0.2");
        // The open quote hides the hop that the proxy wrote.
        assert_eq!(by(r#"for=1.1.1.1;x=", for=198.51.100.7"#), "10.0.0.1");
    }

    #[test]
    fn two_headers_that_differ_are_ignored() {
        let both =
            |forwarded, x| seen("10.0.0.1", &[("forwarded", forwarded), ("x-forwarded-for", x)]);
        assert_eq!(both("for=198.51.100.7", "198.51.100.7"), "198.51.100.7");
        assert_eq!(both("for=1.1.1.1", "198.51.100.7"), "10.0.0.1");
        assert_eq!(both("for=198.51.100.7", "1.1.1.1"), "10.0.0.1");
    }
}
