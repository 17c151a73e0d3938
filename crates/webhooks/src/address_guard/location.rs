//! Checks the URLs of webhooks.
//!
//! The WHATWG parser converts every notation of an address (decimal, octal, hexadecimal, short) into the canonical one.
//! Only the canonical URL is checked, stored and used, so another notation cannot hide a forbidden address.

use std::net::{IpAddr, Ipv4Addr};

use awc::http::Uri;
use rustls::pki_types::ServerName;
use url::{Host, Url};

use super::policy::AddressPolicy;

impl AddressPolicy {
    /// Parses and checks a URL, and returns its canonical form. The error names the broken rule, as a clause that
    /// follows the word "url": for example "must name a host".
    pub fn parse_url(&self, raw: &str) -> Result<Url, String> {
        self.check(raw).map_err(str::to_owned)
    }

    fn check(&self, raw: &str) -> Result<Url, &'static str> {
        if raw.len() > URL_LEN_MAX {
            return Err("must have at most 2048 characters");
        }
        let url = Url::parse(raw).map_err(describe)?;
        // Percent-encoding makes a URL longer, and the stored URL is parsed again before each attempt.
        if url.as_str().len() > URL_LEN_MAX {
            return Err("must have at most 2048 characters when percent-encoded");
        }
        self.check_scheme(url.scheme())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not carry a user name or password");
        }
        if url.fragment().is_some() {
            return Err("must not have a fragment");
        }
        if !self.allows_port(&url) {
            return Err("must use port 443, 8443 or one from 1024 up");
        }
        match url.host() {
            Some(Host::Domain(name)) => {
                self.check_name(name)?;
                // A name that `ServerName` rejects may resolve, but no certificate can contain such a name.
                if url.scheme() == "https" && ServerName::try_from(name).is_err() {
                    return Err(
                        "must name a host of letters, digits, `-` and `_` only, without `-` at an end of a label",
                    );
                }
            }
            Some(Host::Ipv4(ip)) => self.check_address(ip.into())?,
            Some(Host::Ipv6(ip)) => {
                self.check_address(ip.into())?;
                // The TLS connector accepts no IPv6 address as server name, so every attempt would fail.
                if url.scheme() == "https" {
                    return Err("must name its host: https to an IPv6 address is not supported");
                }
            }
            None => return Err("must name a host"),
        }
        if !client_reads_same_host(&url) {
            return Err("has characters that cannot be sent");
        }
        Ok(url)
    }

    fn check_scheme(&self, scheme: &str) -> Result<(), &'static str> {
        match (scheme, self.dev) {
            ("https", _) | ("http", true) => Ok(()),
            (_, true) => Err("must be http or https"),
            (_, false) => Err(NOT_HTTPS),
        }
    }

    fn allows_port(&self, url: &Url) -> bool {
        match url.port_or_known_default() {
            Some(443 | 8443 | 1024..) => true,
            Some(80) => self.dev,
            _ => false,
        }
    }

    fn check_address(&self, ip: IpAddr) -> Result<(), &'static str> {
        if self.allows(ip) { Ok(()) } else { Err(self.not_public()) }
    }

    /// Returns the error for an address that is not allowed.
    pub(super) const fn not_public(&self) -> &'static str {
        if self.dev { NOT_PUBLIC_IN_DEVELOPMENT } else { NOT_PUBLIC }
    }

    fn check_name(&self, name: &str) -> Result<(), &'static str> {
        let is_well_formed = |label: &str| (1..=63).contains(&label.len());
        if name.len() > 253 || !name.split('.').all(is_well_formed) {
            return Err("must name a well-formed host, without a dot at its end");
        }
        // RFC 6761: these names are always loopback.
        if name == "localhost" || name.ends_with(".localhost") {
            return self.check_address(Ipv4Addr::LOCALHOST.into());
        }
        if !self.dev && !name.contains('.') {
            return Err("must name a host by its full domain name");
        }
        Ok(())
    }
}

/// Returns true if the HTTP client finds the same host and port in the URL as this check. If the two parsers disagreed,
/// the client would connect to a host that was not checked.
fn client_reads_same_host(url: &Url) -> bool {
    Uri::try_from(url.as_str())
        .is_ok_and(|uri| uri.host() == url.host_str() && uri.port_u16() == url.port())
}

fn describe(error: url::ParseError) -> &'static str {
    match error {
        url::ParseError::EmptyHost => "must name a host",
        url::ParseError::InvalidPort => "must have a port from 1 to 65535",
        url::ParseError::IdnaError
        | url::ParseError::InvalidDomainCharacter
        | url::ParseError::InvalidIpv4Address
        | url::ParseError::InvalidIpv6Address => "must name a well-formed host",
        _ => "must be an absolute URL, such as https://example.org/hook",
    }
}

/// Appends the ways to receive events without a public https address to an error text.
macro_rules! or_without_public_address {
    ($problem:literal) => {
        concat!(
            $problem,
            "; for tests on one machine start the server with --dev, elsewhere register relay: as the url, or see \
             /docs/behind-nat"
        )
    };
}

const NOT_PUBLIC_IN_DEVELOPMENT: &str = "must not lead to a private, otherwise non-public or denied address; --dev allows only loopback";
const NOT_HTTPS: &str = or_without_public_address!("must be https");
const NOT_PUBLIC: &str = or_without_public_address!(
    "must not lead to a private, loopback, otherwise non-public or denied address"
);

const URL_LEN_MAX: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::connections::CLOSED_HOSTS;

    fn parse(raw: &str) -> Result<String, String> {
        AddressPolicy::default().parse_url(raw).map(String::from)
    }

    #[test]
    fn an_allowed_url_becomes_canonical() {
        for (raw, canonical) in [
            ("https://example.org", "https://example.org/"),
            ("https://example.org:8443/a?b=c", "https://example.org:8443/a?b=c"),
            ("HTTPS://EXAMPLE.org:443/A b", "https://example.org/A%20b"),
            (" https://example.org/\t\n", "https://example.org/"),
            ("https:\\\\example.org\\a", "https://example.org/a"),
            ("https://@example.org/", "https://example.org/"),
            ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
            ("https://MY_host._b.example/", "https://my_host._b.example/"),
            ("https://8.8.8.8:1024/", "https://8.8.8.8:1024/"),
            ("https://134744072/", "https://8.8.8.8/"),
            ("https://example.org/a|b[c]{d}^", "https://example.org/a|b[c]%7Bd%7D^"),
        ] {
            assert_eq!(parse(raw).as_deref(), Ok(canonical), "{raw}");
        }
    }

    #[test]
    fn no_notation_of_a_closed_address_is_accepted() {
        let others = [
            "127.0.1",
            "0X7F.0.0.1",
            "0177.1",
            "127.0.0.1.",
            "①②⑦.0.0.1",
            "127。0。0。1",
            "%31%32%37.0.0.1",
            "012.0.0.1",
            "0xa9fea9fe",
            "192.168.1.1",
            "3232235777",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b:1::1]",
            "[2002:7f00:1::]",
            "localhost",
            "LOCALHOST",
            "a.localhost",
            "loc%61lhost",
        ];
        for host in CLOSED_HOSTS.iter().chain(&others) {
            assert_eq!(parse(&format!("https://{host}/")), Err(NOT_PUBLIC.to_owned()), "{host}");
        }
    }

    #[test]
    fn faults_are_clauses_that_follow_the_word_url() {
        let long = format!("https://example.org/{}", "a".repeat(2048));
        let long_encoded = format!("https://example.org/{}", "ü".repeat(350));
        let long_label = format!("https://{}.org/", "a".repeat(64));
        for (raw, fault) in [
            (long.as_str(), "must have at most 2048 characters"),
            (&long_encoded, "must have at most 2048 characters when percent-encoded"),
            ("", "must be an absolute URL, such as https://example.org/hook"),
            ("example.org/hook", "must be an absolute URL, such as https://example.org/hook"),
            ("//example.org", "must be an absolute URL, such as https://example.org/hook"),
            ("http://example.org/", NOT_HTTPS),
            ("ftp://example.org/", NOT_HTTPS),
            ("file:///etc/passwd", NOT_HTTPS),
            ("javascript:alert(1)", NOT_HTTPS),
            ("https://", "must name a host"),
            ("https://user@example.org/", "must not carry a user name or password"),
            ("https://:secret@example.org/", "must not carry a user name or password"),
            ("https://8.8.8.8@127.0.0.1/", "must not carry a user name or password"),
            ("https://example.org/#top", "must not have a fragment"),
            ("https://example.org/#", "must not have a fragment"),
            ("https://example.org:22/", "must use port 443, 8443 or one from 1024 up"),
            ("https://example.org:80/", "must use port 443, 8443 or one from 1024 up"),
            ("https://example.org:0/", "must use port 443, 8443 or one from 1024 up"),
            ("https://example.org:1023/", "must use port 443, 8443 or one from 1024 up"),
            ("https://example.org:65536/", "must have a port from 1 to 65535"),
            ("https://1.2.3.4.5/", "must name a well-formed host"),
            ("https://256.0.0.1/", "must name a well-formed host"),
            ("https://[::1%25eth0]/", "must name a well-formed host"),
            ("https://exa mple.org/", "must name a well-formed host"),
            ("https://example.org./", "must name a well-formed host, without a dot at its end"),
            ("https://localhost./", "must name a well-formed host, without a dot at its end"),
            ("https://a..b/", "must name a well-formed host, without a dot at its end"),
            (&long_label, "must name a well-formed host, without a dot at its end"),
            (
                "https://a!b.example/",
                "must name a host of letters, digits, `-` and `_` only, without `-` at an end of a label",
            ),
            (
                "https://-a.example/",
                "must name a host of letters, digits, `-` and `_` only, without `-` at an end of a label",
            ),
            (
                "https://a-.example/",
                "must name a host of letters, digits, `-` and `_` only, without `-` at an end of a label",
            ),
            ("https://intranet/", "must name a host by its full domain name"),
            (
                "https://[2606:4700::1111]/",
                "must name its host: https to an IPv6 address is not supported",
            ),
        ] {
            assert_eq!(parse(raw), Err(fault.to_owned()), "{raw}");
        }
    }

    #[test]
    fn development_allows_only_http_and_loopback_in_addition() {
        let dev = AddressPolicy { dev: true, ..AddressPolicy::default() };
        for raw in [
            "http://localhost/",
            "http://localhost:3000/",
            "http://127.0.0.1:3000/",
            "http://[::1]:3000/",
            "https://127.0.0.1:3000/",
            "http://receiver:3000/",
            "http://example.org/",
        ] {
            assert!(dev.parse_url(raw).is_ok(), "{raw}");
        }
        for (raw, fault) in [
            ("http://10.0.0.1/", NOT_PUBLIC_IN_DEVELOPMENT),
            ("http://169.254.169.254/", NOT_PUBLIC_IN_DEVELOPMENT),
            ("http://[fe80::1]/", NOT_PUBLIC_IN_DEVELOPMENT),
            ("http://127.0.0.1:22/", "must use port 443, 8443 or one from 1024 up"),
            ("ftp://127.0.0.1/", "must be http or https"),
        ] {
            assert_eq!(dev.parse_url(raw), Err(fault.to_owned()), "{raw}");
        }
    }
}
