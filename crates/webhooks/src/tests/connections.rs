//! Tests of connections that fail, and of connections to forbidden addresses.

use std::{net::TcpListener, rc::Rc};

use sealpost_domain::{AttemptFailure, Clock as _, Outcome, ports::TargetGuard as _};

use super::{
    fake_resolver::{EXHAUSTED_LOOKUPS, exhausted, fixed, rebinding},
    fixture::{Fixture, SECRET, result_at, settings, target},
    test_receiver::{OK, Receiver, Reply},
};
use crate::{
    AddressGuard, AddressPolicy, Settings,
    address_guard::{
        connector::{ConnectFailure, GuardedConnector},
        resolver::{self, NameResolver},
    },
};

fn connector(policy: AddressPolicy, resolver: Rc<dyn NameResolver>) -> GuardedConnector {
    GuardedConnector { policy, resolver }
}

pub(super) fn outcome_at(settings: Settings, url: &str) -> Outcome {
    result_at(settings, url).outcome
}

pub(super) fn failure_at(settings: Settings, url: &str) -> AttemptFailure {
    match outcome_at(settings, url) {
        Outcome::Retry { failure, .. } => failure,
        other => panic!("{url}: {other:?}"),
    }
}

fn production() -> Settings {
    Settings { policy: AddressPolicy::default(), ..settings() }
}

#[test]
fn a_closed_address_is_blocked_in_every_notation() {
    let receiver = Receiver::start(|_| OK);
    let port = receiver.addr.port();
    for url in [
        format!("https://127.0.0.1:{port}/"),
        format!("https://loopback.test:{port}/"),
        format!("https://mixed.test:{port}/"),
        format!("https://mixed-families.test:{port}/"),
        format!("https://only-nat64.test:{port}/"),
        "https://private.test/".to_owned(),
        "https://metadata.test/".to_owned(),
        // Development mode would admit this URL.
        format!("http://127.0.0.1:{port}/"),
    ] {
        assert_eq!(failure_at(production(), &url), AttemptFailure::BlockedAddress, "{url}");
    }
    for url in ["http://private.test/", "http://10.0.0.1/", "http://[fe80::1]/"] {
        assert_eq!(failure_at(settings(), url), AttemptFailure::BlockedAddress, "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

/// Ten lookups fail. Ten failures of the target would open its circuit breaker.
#[test]
fn a_fault_of_this_node_counts_no_attempt_and_no_failure_of_the_target() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start_with(|it| it.new_resolver = exhausted);
    let url = format!("http://names.test:{}/hook", receiver.addr.port());
    let id = fixture.submit(&target(1, &url, SECRET), 0);
    for released in 1..=EXHAUSTED_LOOKUPS {
        let due_at = fixture.outbox.wait_until(|state| {
            let row = &state.rows[&id];
            (row.released == released).then_some(row.due_at)
        });
        let pause = due_at.since(fixture.clock.now());
        assert!((5..=10).contains(&pause.as_secs()), "{pause:?}");
        assert_eq!(fixture.dispatcher.stats().open_breakers, 0);
        fixture.clock.advance(pause);
    }
    let result = &fixture.outbox.wait_for_results(1)[0];
    assert_eq!((result.attempts, result.outcome), (1, Outcome::Succeeded));
}

/// The hosts are an address of every forbidden network, and other notations of such addresses.
#[test]
fn no_notation_of_a_closed_address_is_registered_or_connected_to() {
    let guarded = connector(AddressPolicy::default(), fixed());
    let runtime = actix_rt::Runtime::new().unwrap();
    for host in CLOSED_HOSTS {
        let refused = runtime.block_on(guarded.connect(host, 8443));
        // An IPv4 address in any other notation is treated as a host name, and the test resolver has no address for it.
        let is_number = !host.starts_with('[') && host.parse::<std::net::Ipv4Addr>().is_err();
        match refused {
            Err(ConnectFailure::BlockedAddress) if !is_number => {}
            Err(ConnectFailure::Dns) if is_number => {}
            other => panic!("{host}: {other:?}"),
        }
    }
    let guard = AddressGuard::with_resolver(AddressPolicy::default(), fixed);
    for host in CLOSED_HOSTS {
        let url = format!("https://{host}:8443/");
        assert!(guard.vet(&url).is_err_and(|fault| fault.contains("non-public")), "{host}");
        assert_eq!(failure_at(production(), &url), AttemptFailure::BlockedAddress, "{host}");
    }
}

#[test]
fn a_denied_network_is_neither_registered_nor_connected_to() {
    let receiver = Receiver::start(|_| OK);
    let policy =
        AddressPolicy { denied: vec!["127.0.0.0/8".parse().unwrap()], ..settings().policy };
    let guard = AddressGuard::with_resolver(policy.clone(), fixed);
    for url in [receiver.url(), format!("http://loopback.test:{}/", receiver.addr.port())] {
        assert!(guard.vet(&url).is_err_and(|fault| fault.contains("denied")), "{url}");
        let settings = Settings { policy: policy.clone(), ..settings() };
        assert_eq!(failure_at(settings, &url), AttemptFailure::BlockedAddress, "{url}");
    }
    assert_eq!(receiver.connections(), 0);
}

#[test]
fn webhooks_share_connections_to_the_same_origin() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start(settings());
    let deliver = |number, results| {
        let url = format!("http://127.0.0.1:{}/{number}", receiver.addr.port());
        fixture.submit(&target(number, &url, SECRET), u32::from(number));
        fixture.outbox.wait_for_results(results);
        receiver.connections()
    };
    assert_eq!([deliver(1000, 1), deliver(1001, 2), deliver(1002, 3)], [1, 1, 1]);
    assert_eq!(deliver(1100, 4), 1, "the webhook of another account");
}

#[test]
fn a_name_is_checked_again_at_every_connection() {
    let receiver = Receiver::start(|_| {
        Reply::Bytes(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    });
    let fixture = Fixture::start_with(|it| it.new_resolver = rebinding);
    let target = target(1, &format!("http://rebinding.test:{}/", receiver.addr.port()), SECRET);
    fixture.submit(&target, 0);
    assert_eq!(fixture.outbox.wait_for_results(1)[0].outcome, Outcome::Succeeded);
    fixture.submit(&target, 1);
    let second = fixture.outbox.wait_for_results(2)[1].outcome;
    let Outcome::Retry { failure, .. } = second else { panic!("{second:?}") };
    assert_eq!(failure, AttemptFailure::BlockedAddress);
    assert_eq!(receiver.connections(), 1);
}

/// Simulates DNS rebinding: the host name resolves to an allowed address at registration, and to a forbidden address
/// later.
#[test]
fn a_name_is_checked_again_after_the_registration() {
    let guard = AddressGuard::with_resolver(settings().policy, rebinding);
    guard.vet("http://rebinding.test:8443/").unwrap();
    let names = rebinding();
    let runtime = actix_rt::Runtime::new().unwrap();
    runtime.block_on(names.resolve("rebinding.test")).unwrap();
    let guarded = connector(settings().policy, names);
    let refused = runtime.block_on(guarded.connect("rebinding.test", 8443));
    assert!(matches!(refused, Err(ConnectFailure::BlockedAddress)), "{refused:?}");
}

/// Tests each HTTP status that requests a redirect.
#[test]
fn no_redirect_is_followed_to_a_closed_address() {
    let inside = Receiver::start(|_| OK);
    for status in [301, 302, 303, 307, 308] {
        let head = format!(
            "HTTP/1.1 {status} There\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
            inside.url()
        );
        let head: &'static str = head.leak();
        let receiver = Receiver::start(move |_| Reply::Bytes(head.as_bytes()));
        let failure = failure_at(settings(), &receiver.url());
        assert_eq!(failure, AttemptFailure::HttpStatus(status));
    }
    assert_eq!(inside.connections(), 0);
}

#[test]
fn the_system_resolver_finds_receivers() {
    let receiver = Receiver::start(|_| OK);
    let fixture = Fixture::start_with(|it| it.new_resolver = resolver::system);
    fixture.submit(&target(1, &format!("http://localhost:{}/", receiver.addr.port()), SECRET), 0);
    assert_eq!(fixture.outbox.wait_for_results(1)[0].outcome, Outcome::Succeeded);
}

#[test]
fn connection_failures_have_their_classes() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(failure_at(settings(), &format!("http://{closed}/")), AttemptFailure::Connect);
    assert_eq!(failure_at(settings(), "http://later.test/"), AttemptFailure::Dns);

    let closing = Receiver::start(|_| Reply::Close);
    assert_eq!(failure_at(settings(), &closing.url()), AttemptFailure::Protocol);
    let garbling = Receiver::start(|_| Reply::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"));
    assert_eq!(failure_at(settings(), &garbling.url()), AttemptFailure::Protocol);

    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let deaf_url = format!("https://{}/", deaf.local_addr().unwrap());
    std::thread::spawn(move || deaf.incoming().for_each(drop));
    assert_eq!(failure_at(settings(), &deaf_url), AttemptFailure::Tls);
}

/// Addresses of forbidden networks, in several notations.
pub(crate) const CLOSED_HOSTS: &[&str] = &[
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    // Decimal, hexadecimal, octal and short.
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.1",
    "0",
    "2852039166",
    "0251.0376.0251.0376",
    // Unspecified, loopback, compatible, mapped, translated, ISATAP.
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:0:127.0.0.1]",
    "[::5efe:7f00:1]",
    "[fe80::5efe:7f00:1]",
    // NAT64, discard, Teredo, ORCHID, documentation, 6to4, segment routing.
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[100::1]",
    "[2001::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[2001:db8::1]",
    "[2002:7f00:1::1]",
    "[3fff::1]",
    "[5f00::1]",
    // Unique local, link-local, site-local, multicast.
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
];
