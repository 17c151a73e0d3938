//! Settings that contradict each other, or that will surprise.

use sealpost_node::{BaseUrl, HttpSettings, Settings, circuits, config, tls};

use crate::{doctor::finding::Finding, fault::Fault, logs};

pub(super) fn look(settings: &Settings, log: &str) -> Vec<Finding> {
    let mut findings = vec![Finding::of("settings", sound(settings, log))];
    let surprises = surprises(&settings.http);
    findings.extend(surprises.into_iter().map(|text| Finding::warn("settings", text)));
    findings
}

fn sound(settings: &Settings, log: &str) -> Result<String, Fault> {
    let http = &settings.http;
    config::check_listen(settings)?;
    config::check_lease(settings)?;
    config::check_timeouts(http)?;
    config::check_body_memory(http)?;
    config::kek_source(&settings.kek, &settings.database.embedded_paths())?;
    if let Some(file) = &settings.webhooks.extra_roots {
        tls::read_certificates(file)?;
    }
    circuits::read(settings.circuits.as_deref())?;
    logs::filter(log)?;
    if let Some(url) = &http.base_url {
        BaseUrl::new(Some(url), url)?;
    }
    Ok(format!("to be served on {}://{}", http.scheme(), http.listen))
}

fn surprises(http: &HttpSettings) -> Vec<&'static str> {
    let mut surprises = Vec::new();
    if http.behind_tls_proxy && http.trusted_proxies.is_empty() {
        surprises.push(
            "behind a proxy every client has the proxy's address, so they share its limits; name the proxy \
             with --trusted-proxy",
        );
    }
    if http.base_url.is_none() && (http.listen.ip().is_unspecified() || http.behind_tls_proxy) {
        surprises.push(
            "callers are told an address that they cannot reach; give theirs with --base-url",
        );
    }
    if http.base_url.as_ref().is_some_and(|url| !url.starts_with("https://"))
        && !http.listen.ip().is_loopback()
    {
        surprises
            .push("--base-url does not begin with https://, which is all that callers may use");
    }
    surprises
}
