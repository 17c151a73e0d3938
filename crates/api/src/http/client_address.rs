//! Whose request it is, by address: the peer's, unless the peer is a proxy that the operator trusts; then what that
//! proxy says, from right to left, for as far as trusted proxies vouch for it. What stands further left was written
//! by the client, who may write anything.

use std::net::{IpAddr, SocketAddr};

use actix_web::http::header::{self, HeaderMap, HeaderName};
use ipnet::IpNet;

use super::forwarded;

/// The client's address.
pub(crate) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let has = |name: &HeaderName| headers.contains_key(name);
    let by_forwarded = || farthest(peer, forwarded_hops(headers), trusted);
    let by_x_forwarded_for = || farthest(peer, x_forwarded_for_hops(headers), trusted);
    match (has(&header::FORWARDED), has(&X_FORWARDED_FOR)) {
        (false, false) => peer,
        (true, false) => by_forwarded(),
        (false, true) => by_x_forwarded_for(),
        // A proxy may write one and pass the client's own other one through: they must agree.
        (true, true) => {
            Some(by_forwarded()).filter(|address| *address == by_x_forwarded_for()).unwrap_or(peer)
        }
    }
}

/// The first hop from the right that is not trusted; the last trusted one where a hop cannot be read.
fn farthest(peer: IpAddr, hops: Vec<Option<IpAddr>>, trusted: &[IpNet]) -> IpAddr {
    let mut vouched = peer;
    for hop in hops.into_iter().rev() {
        let Some(hop) = hop else { return vouched };
        vouched = hop;
        if !is_trusted(hop, trusted) {
            return vouched;
        }
    }
    vouched
}

/// From left to right, over all lines of the header; `None` is a hop that cannot be read.
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

/// An address, bare or with a port, in brackets or not.
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

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    /// `10.0.0.0/8` and `fd00::/8` are proxies; requests come from `peer`.
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
    fn nobody_but_a_trusted_proxy_is_believed() {
        assert_eq!(by_x("192.0.2.1", "198.51.100.7"), "192.0.2.1");
        assert_eq!(seen("192.0.2.1", &[("forwarded", "for=198.51.100.7")]), "192.0.2.1");
        assert_eq!(seen("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(by_x("10.0.0.1", "198.51.100.7"), "198.51.100.7");
        assert_eq!(by_x("::ffff:10.0.0.1", "::ffff:198.51.100.7"), "198.51.100.7");
    }

    #[test]
    fn what_a_client_wrote_itself_is_left_of_what_counts() {
        assert_eq!(by_x("10.0.0.1", "127.0.0.1, 198.51.100.7"), "198.51.100.7");
        assert_eq!(by_x("10.0.0.1", "127.0.0.1, 198.51.100.7, 10.9.9.9"), "198.51.100.7");
        let lines = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "198.51.100.7")];
        assert_eq!(seen("10.0.0.1", &lines), "198.51.100.7");
        // An inner address that a client claims is taken for a hop only where a proxy wrote it.
        assert_eq!(by_x("10.0.0.1", "10.1.1.1, 198.51.100.7"), "198.51.100.7");
    }

    #[test]
    fn what_cannot_be_read_ends_the_walk_at_the_last_trusted_hop() {
        for unreadable in ["", "unknown", "198.51.100", "198.51.100.7, ", "[::1", "a.example"] {
            assert_eq!(by_x("10.0.0.1", unreadable), "10.0.0.1", "{unreadable}");
        }
        assert_eq!(by_x("10.0.0.1", "1.1.1.1, rubbish, 10.0.0.2"), "10.0.0.2");
        assert_eq!(by_x("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3");
    }

    #[test]
    fn ports_and_brackets_are_no_part_of_an_address() {
        for hop in ["2001:db8::7", "[2001:db8::7]", "[2001:db8::7]:4711"] {
            assert_eq!(by_x("fd00::1", hop), "2001:db8::7", "{hop}");
        }
        assert_eq!(by_x("fd00::1", "198.51.100.7:4711"), "198.51.100.7");
        let quoted = [("forwarded", r#"proto=https;For="[2001:db8::7]:4711";by=_p"#)];
        assert_eq!(seen("fd00::1", &quoted), "2001:db8::7");
    }

    #[test]
    fn forwarded_is_walked_like_the_older_header() {
        let by = |value: &str| seen("10.0.0.1", &[("forwarded", value)]);
        assert_eq!(by("for=1.1.1.1, for=198.51.100.7;proto=http, for=10.0.0.2"), "198.51.100.7");
        assert_eq!(by("for=198.51.100.7, for=unknown"), "10.0.0.1");
        assert_eq!(by("for=198.51.100.7, for=_hidden, for=10.0.0.2"), "10.0.0.2");
        // An open quote would swallow what the proxy added.
        assert_eq!(by(r#"for=1.1.1.1;x=", for=198.51.100.7"#), "10.0.0.1");
    }

    #[test]
    fn of_two_headers_that_differ_neither_is_believed() {
        let both =
            |forwarded, x| seen("10.0.0.1", &[("forwarded", forwarded), ("x-forwarded-for", x)]);
        assert_eq!(both("for=198.51.100.7", "198.51.100.7"), "198.51.100.7");
        assert_eq!(both("for=1.1.1.1", "198.51.100.7"), "10.0.0.1");
        assert_eq!(both("for=198.51.100.7", "1.1.1.1"), "10.0.0.1");
    }
}
