//! Checks settings, also those that depend on each other, before a node opens or creates anything.

use std::{net::IpAddr, time::Duration};

use super::{HttpSettings, ProviderName, Settings, base_url::BaseUrl};
use crate::error::NodeError;

/// Checks all settings that depend on each other, and refuses useless values of zero.
pub fn check(settings: &Settings) -> Result<(), NodeError> {
    check_listen(settings)?;
    check_ports(settings)?;
    check_zeros(settings)?;
    check_workers(settings)?;
    check_quorum(settings)?;
    check_console(settings)?;
    check_proxies(settings)?;
    check_connections(settings)?;
    check_lease(settings)?;
    check_timeouts(settings)?;
    check_body_memory(settings)
}

/// Rejects a TLS certificate together with a TLS proxy. If the API does not listen on loopback, also requires one of
/// the two, and rejects the development mode.
fn check_listen(settings: &Settings) -> Result<(), NodeError> {
    let HttpSettings { listen, tls, behind_tls_proxy, .. } = &settings.http;
    // Checked here, because a conflict rule of the command-line parser would also reject `SEALPOST_BEHIND_TLS_PROXY=0`.
    if *behind_tls_proxy && tls.is_some() {
        return Err(NodeError::contradiction(
            "give either --tls-cert or --behind-tls-proxy, not both",
        ));
    }
    if listen.ip().is_loopback() {
        return Ok(());
    }
    if settings.dev {
        return Err(NodeError::new("--dev is for loopback only: omit it, or listen on 127.0.0.1"));
    }
    if tls.is_none() && !behind_tls_proxy {
        return Err(NodeError::new(format!(
            "{listen} is not loopback and would be served without TLS: give --tls-cert and --tls-key, put a TLS \
             proxy in front and give --behind-tls-proxy, or listen on 127.0.0.1"
        )));
    }
    Ok(())
}

/// Rejects settings that give the API and the operations endpoints the same address and port. Port 0 is accepted for
/// both, because each gets its own free port.
fn check_ports(settings: &Settings) -> Result<(), NodeError> {
    let HttpSettings { listen, ops_listen: Some(ops), .. } = &settings.http else { return Ok(()) };
    // `::` includes the IPv4 addresses, and 0.0.0.0 includes no IPv6 address.
    let includes =
        |any: IpAddr, other: IpAddr| any.is_unspecified() && (any.is_ipv6() || other.is_ipv4());
    let (api, operations) = (listen.ip(), ops.ip());
    let is_same = api == operations || includes(api, operations) || includes(operations, api);
    ensure(
        listen.port() == 0 || listen.port() != ops.port() || !is_same,
        format!(
            "--listen {listen} and --ops-listen {ops} are one address: give one of them another port"
        ),
    )
}

/// Rejects zero for settings with which a server would start, but not work. For example, the server would refuse each
/// request, or delete each envelope before its delivery. Lifetimes, such as that of a session, may be zero: the session
/// then ends at once.
fn check_zeros(settings: &Settings) -> Result<(), NodeError> {
    let Settings { database, http, api, service, keys, journal_retention, .. } = settings;
    let settings = [
        ("--body-timeout", api.body_timeout.is_zero(), "10s"),
        ("--commit-timeout", database.storage.commit_timeout.is_zero(), "10s"),
        ("--journal-retention", journal_retention.0.is_zero(), "400d"),
        ("--kek-recheck", keys.recheck.is_zero(), "5m"),
        ("--max-body-bytes", api.max_body_bytes == 0, "2MiB"),
        ("--max-message-bytes", service.message_bytes_max == 0, "256KiB"),
        ("--retention", service.retention.is_zero(), "30d"),
        ("--tls-handshake-timeout", http.tls_handshake_timeout.is_zero(), "5s"),
    ];
    settings.into_iter().try_for_each(|(setting, is_zero, example)| {
        ensure(!is_zero, format!("{setting} must not be 0: give a value such as {example}"))
    })
}

/// Rejects numbers of threads with which the HTTP library ends the process.
fn check_workers(settings: &Settings) -> Result<(), NodeError> {
    let (max, workers) = (HttpSettings::WORKERS_MAX, settings.http.workers.unwrap_or(1));
    ensure(
        (1..=max).contains(&workers),
        format!("--workers must be from 1 to {max}, not {workers}"),
    )
}

/// Requires an operations address if the key provider is a quorum: operators send the shares of its key to this
/// address.
fn check_quorum(settings: &Settings) -> Result<(), NodeError> {
    let is_quorum = matches!(settings.keys.provider, Some(ProviderName::Quorum(_)));
    ensure(
        !is_quorum || settings.http.ops_listen.is_some(),
        "a quorum gets its shares at the operations address: omit --ops-listen off",
    )
}

/// Requires an operations address if the console is on. If this address is not on loopback, requires an HTTPS URL,
/// because operators send their passwords to the console.
fn check_console(settings: &Settings) -> Result<(), NodeError> {
    let console = &settings.console;
    let is_https =
        |url: &String| BaseUrl::parse(url).is_some_and(|url| url.as_str().starts_with("https://"));
    if console.url.as_ref().is_some_and(|url| !is_https(url)) {
        return Err(NodeError::new(
            "--console-url must be an HTTPS URL, such as https://ops.example, without user, query and fragment",
        ));
    }
    if console.password_file.is_none() {
        return Ok(());
    }
    match settings.http.ops_listen {
        None => Err(NodeError::new(
            "--console-password-file needs the operations address: omit --ops-listen off",
        )),
        Some(address) if !address.ip().is_loopback() && console.url.is_none() => {
            Err(NodeError::new(format!(
                "the console at {address} would be served without TLS: listen on 127.0.0.1, or put a TLS proxy in \
                 front of the operations address and give its URL with --console-url"
            )))
        }
        Some(_) => Ok(()),
    }
}

/// Requires `trusted_proxies` behind a TLS proxy. Without client addresses from the proxy, all clients share the rate
/// limits of one address.
fn check_proxies(settings: &Settings) -> Result<(), NodeError> {
    ensure(
        !settings.http.behind_tls_proxy || settings.api.trusted_proxies.is_some(),
        "--behind-tls-proxy needs --trusted-proxy: give the network of the proxy, such as --trusted-proxy \
         10.0.0.5, or --trusted-proxy none if the proxy names no client addresses; all clients then share the \
         rate limits of one address",
    )
}

/// Requires that the limit of anonymous connections is lower than the limit of connections per worker. Then anonymous
/// connections alone cannot fill a worker and exclude authenticated clients.
fn check_connections(settings: &Settings) -> Result<(), NodeError> {
    let HttpSettings { max_connections, max_anonymous_connections, .. } = settings.http;
    ensure(
        max_anonymous_connections < max_connections,
        format!(
            "--max-anonymous-connections must be less than --max-connections, which is {max_connections}"
        ),
    )
}

/// Requires that a delivery's lease is longer than a webhook request can take. If the lease ended during the request,
/// another node could send the same event, too.
fn check_lease(settings: &Settings) -> Result<(), NodeError> {
    let webhooks = &settings.webhooks.dispatcher;
    let least = webhooks.timeout.saturating_add(LEASE_MARGIN);
    ensure(
        !webhooks.timeout.is_zero() && webhooks.lease >= least,
        format!(
            "--webhook-lease must be at least {} (--webhook-timeout, which must not be 0, plus 10 s)",
            humantime::format_duration(least)
        ),
    )
}

/// Requires that the connection timeout is longer than the body timeout. With a shorter connection timeout, the
/// connection of a client that sends a body slowly would be closed without an error response.
fn check_timeouts(settings: &Settings) -> Result<(), NodeError> {
    let body_timeout = settings.api.body_timeout;
    ensure(
        settings.http.connection_timeout > body_timeout,
        format!(
            "--connection-timeout must be longer than --body-timeout, which is {}",
            humantime::format_duration(body_timeout)
        ),
    )
}

/// Requires that the memory for request bodies is at least the maximum size of one body, in total and for each account.
fn check_body_memory(settings: &Settings) -> Result<(), NodeError> {
    let api = &settings.api;
    for (setting, bytes) in [
        ("--body-memory", api.body_memory),
        ("--body-memory-per-account", api.body_memory_per_account),
    ] {
        let least = api.max_body_bytes;
        ensure(
            bytes >= least,
            format!("{setting} must be at least --max-body-bytes, which is {least}"),
        )?;
    }
    Ok(())
}

/// Fails with this message if a setting is not right.
fn ensure(is_right: bool, message: impl Into<String>) -> Result<(), NodeError> {
    if is_right { Ok(()) } else { Err(NodeError::new(message)) }
}

/// Minimum time between the timeout of a webhook request and the end of the delivery's lease. In this time, the outcome
/// is stored.
const LEASE_MARGIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Settings);

    #[test]
    fn the_url_of_the_console_is_an_https_url_without_user_query_and_fragment() {
        let with = |url: &str| {
            let mut settings = Settings::default();
            settings.console.url = Some(url.to_owned());
            check(&settings)
        };
        for url in ["https://ops.example", "https://ops.example:8443/sealpost/"] {
            with(url).unwrap();
        }
        for url in [
            "http://ops.example",
            "https://",
            "https://u:p@ops.example",
            "https://ops.example/?a=b",
            "https://ops.example/#a",
        ] {
            let fault = with(url).unwrap_err().with_causes();
            assert!(fault.contains("--console-url must be") && !fault.contains("u:p"), "{fault}");
        }
    }

    #[test]
    fn one_port_for_api_and_operations_is_refused() {
        let mut settings = Settings::default();
        let mut with = |address: &str| {
            settings.http.listen = address.parse().unwrap();
            settings.http.ops_listen = Some(settings.http.listen);
            check(&settings)
        };
        with("127.0.0.1:0").unwrap();
        let fault = with("127.0.0.1:8080").unwrap_err().with_causes();
        assert!(fault.contains("--ops-listen"), "{fault}");
    }

    #[test]
    fn a_number_of_workers_that_the_http_library_does_not_support_is_refused() {
        for (workers, is_right) in [(1, true), (512, true), (0, false), (513, false)] {
            let mut settings = Settings::default();
            settings.http.workers = Some(workers);
            let fault = check(&settings).err().map(|fault| fault.with_causes());
            assert_eq!(fault.is_none(), is_right, "{workers}: {fault:?}");
            let is_named = |it: &str| it.contains("--workers must be from 1 to 512");
            assert!(fault.as_deref().is_none_or(is_named), "{workers}: {fault:?}");
        }
    }

    #[test]
    fn a_useless_zero_is_refused() {
        check(&Settings::default()).unwrap();
        let changes: [(&str, Change); 8] = [
            ("--body-timeout", |it| it.api.body_timeout = Duration::ZERO),
            ("--commit-timeout", |it| it.database.storage.commit_timeout = Duration::ZERO),
            ("--journal-retention", |it| it.journal_retention.0 = Duration::ZERO),
            ("--kek-recheck", |it| it.keys.recheck = Duration::ZERO),
            ("--max-body-bytes", |it| it.api.max_body_bytes = 0),
            ("--max-message-bytes", |it| it.service.message_bytes_max = 0),
            ("--retention", |it| it.service.retention = Duration::ZERO),
            ("--tls-handshake-timeout", |it| it.http.tls_handshake_timeout = Duration::ZERO),
        ];
        for (name, change) in changes {
            let mut settings = Settings::default();
            change(&mut settings);
            let fault = check(&settings).unwrap_err().with_causes();
            assert!(fault.contains(&format!("{name} must not be 0")), "{fault}");
        }
        let mut off = Settings::default();
        off.service.idempotency_ttl = Duration::ZERO;
        off.service.activity_retention = Duration::ZERO;
        off.service.secret_overlap = Duration::ZERO;
        check(&off).unwrap();
    }
}
