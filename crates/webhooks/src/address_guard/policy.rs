//! Decides which IP addresses webhook requests may connect to: public ones only.
//!
//! Forbidden networks are those of IANA's special-purpose registries. An IPv4-mapped IPv6 address is checked as its
//! IPv4 address; other IPv6 networks that embed IPv4 addresses, such as 6to4, are forbidden.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// The rules that decide which URLs and IP addresses webhooks may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    /// Allows http and loopback addresses as well, for development. Other non-public addresses stay forbidden.
    pub dev: bool,
    /// Additional forbidden networks, also in development.
    pub denied: Vec<IpNet>,
}

impl AddressPolicy {
    /// Returns the addresses of `ips` to which webhook requests may connect. `None` if one of them is forbidden. All
    /// `ips` belong to one host.
    pub(crate) fn dialable(&self, mut ips: Vec<IpAddr>) -> Option<Vec<IpAddr>> {
        // Ignores NAT64 addresses if the host also has IPv4 addresses. Name servers with DNS64 add a NAT64 address to
        // such hosts.
        if ips.iter().any(IpAddr::is_ipv4) {
            ips.retain(|ip| !NAT64.contains(ip));
        }
        ips.iter().all(|ip| self.allows(*ip)).then_some(ips)
    }

    /// Returns true if webhook requests may connect to `ip`.
    pub fn allows(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        let is_in = |networks: &[IpNet]| networks.iter().any(|network| network.contains(&ip));
        if is_in(&self.denied) {
            return false;
        }
        let is_open = !is_in(CLOSED) && (ip.is_ipv4() || OPEN_V6.contains(&ip));
        is_open || (self.dev && ip.is_loopback())
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> IpNet {
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), length)
}

const fn v6(a: u16, b: u16, length: u8) -> IpNet {
    IpNet::new_assert(IpAddr::V6(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0)), length)
}

/// Networks of special-purpose addresses that contain no public service.
const CLOSED: &[IpNet] = &[
    v4(0, 0, 0, 0, 8),        // this network
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // carrier-grade NAT
    v4(127, 0, 0, 0, 8),      // loopback
    v4(168, 63, 129, 16, 32), // Azure host agent, a public number with private use
    v4(169, 254, 0, 0, 16),   // link-local, includes cloud metadata services
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 88, 99, 0, 24),   // 6to4 relays
    v4(192, 168, 0, 0, 16),   // private
    v4(198, 18, 0, 0, 15),    // benchmarks
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved, and broadcast
    v6(0x2001, 0, 23),        // protocol assignments: Teredo, ORCHID, benchmarks
    v6(0x2001, 0xdb8, 32),    // documentation
    v6(0x2002, 0, 16),        // 6to4, can express any IPv4 address
    v6(0x3fff, 0, 20),        // documentation
];

/// The IPv6 network of global unicast addresses. All IPv6 addresses outside this network are forbidden: loopback,
/// NAT64, discard, unique local, link-local, multicast.
const OPEN_V6: IpNet = v6(0x2000, 0, 3);

/// Addresses that stand for an IPv4 address behind a translator (RFC 6052).
const NAT64: IpNet = v6(0x64, 0xff9b, 96);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PRODUCTION: AddressPolicy = AddressPolicy { dev: false, denied: Vec::new() };
    const DEV: AddressPolicy = AddressPolicy { dev: true, denied: Vec::new() };

    /// Forbidden networks in the notation of IANA's registries. The test compares this list with the constants above,
    /// so the list is written separately.
    const CLOSED: &[&str] = &[
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "::/8",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001::/32",
        "2001:10::/28",
        "2001:20::/28",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    ];

    /// Returns an address in the network. The bits after the network prefix are those of `noise`.
    fn inside(network: &str, noise: u128) -> IpAddr {
        let (net, length) = network.split_once('/').unwrap();
        let length: u32 = length.parse().unwrap();
        match net.parse().unwrap() {
            IpAddr::V4(net) => {
                let free = u32::MAX.checked_shr(length).unwrap_or(0);
                let noise = u32::try_from(noise & u128::from(u32::MAX)).unwrap();
                Ipv4Addr::from_bits(net.to_bits() | (noise & free)).into()
            }
            IpAddr::V6(net) => {
                let free = u128::MAX.checked_shr(length).unwrap_or(0);
                Ipv6Addr::from_bits(net.to_bits() | (noise & free)).into()
            }
        }
    }

    fn closed_in_dev(ip: IpAddr) -> bool {
        !ip.to_canonical().is_loopback()
    }

    proptest! {
        #[test]
        fn addresses_of_closed_networks_are_refused(
            network in proptest::sample::select(CLOSED),
            noise in any::<u128>(),
        ) {
            let ip = inside(network, noise);
            // ::/8 contains the IPv4-mapped addresses. The policy must treat such an address like its IPv4 address.
            if let (IpAddr::V6(_), IpAddr::V4(mapped)) = (ip, ip.to_canonical()) {
                prop_assert_eq!(PRODUCTION.allows(ip), PRODUCTION.allows(mapped.into()));
            } else {
                prop_assert!(!PRODUCTION.allows(ip), "{} of {}", ip, network);
                prop_assert!(!DEV.allows(ip) || !closed_in_dev(ip), "{} of {}", ip, network);
            }
        }

        #[test]
        fn an_ipv4_mapped_address_is_checked_as_ipv4(bits in any::<u32>()) {
            let ip = Ipv4Addr::from_bits(bits);
            prop_assert_eq!(
                PRODUCTION.allows(ip.to_ipv6_mapped().into()),
                PRODUCTION.allows(ip.into())
            );
        }

        #[test]
        fn development_adds_only_loopback(bits in any::<u128>(), narrow in any::<bool>()) {
            let ip: IpAddr = if narrow {
                Ipv4Addr::from_bits(u32::try_from(bits >> 96).unwrap()).into()
            } else {
                Ipv6Addr::from_bits(bits).into()
            };
            prop_assert_eq!(
                DEV.allows(ip),
                PRODUCTION.allows(ip) || ip.to_canonical().is_loopback()
            );
        }
    }

    #[test]
    fn denied_networks_are_closed_in_development_too() {
        let denied = ["9.9.9.0/24", "2606:4700::/32", "127.0.0.8/29"];
        let denied: Vec<_> = denied.iter().map(|network| network.parse().unwrap()).collect();
        for dev in [false, true] {
            let policy = AddressPolicy { dev, denied: denied.clone() };
            for closed in ["9.9.9.9", "::ffff:9.9.9.9", "2606:4700::1111", "127.0.0.9"] {
                assert!(!policy.allows(closed.parse().unwrap()), "{closed}");
            }
            assert!(policy.allows("9.9.8.9".parse().unwrap()));
            assert_eq!(policy.allows("127.0.0.1".parse().unwrap()), dev);
        }
    }

    #[test]
    fn closed_networks_have_exact_bounds() {
        for open in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.101.0",
            "203.0.114.0",
            "223.255.255.255",
            "8.8.8.8",
            "2000::1",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "3fff:1000::1",
            "3ffe::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(PRODUCTION.allows(open.parse().unwrap()), "{open}");
        }
        for closed in [
            "168.63.129.16",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:0:1::",
            "fd00:ec2::254",
            "4000::1",
            "1fff::1",
        ] {
            assert!(!PRODUCTION.allows(closed.parse().unwrap()), "{closed}");
        }
    }
}
