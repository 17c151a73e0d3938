//! Settings that contradict each other, or that will surprise.

use crate::{
    base_url::BaseUrl,
    circuits,
    cli::{HttpArgs, ServeArgs},
    config,
    doctor::finding::Finding,
    logs, tls,
};

pub(super) fn look(args: &ServeArgs) -> Vec<Finding> {
    let mut findings = vec![Finding::of("settings", sound(args))];
    findings.extend(surprises(&args.http).into_iter().map(|text| Finding::warn("settings", text)));
    findings
}

fn sound(args: &ServeArgs) -> Result<String, crate::fault::Fault> {
    config::check_listen(args)?;
    config::check_lease(args)?;
    config::check_timeouts(&args.http)?;
    config::check_body_memory(&args.http)?;
    config::kek_source(args, &config::EmbeddedPaths::of(&args.database))?;
    if let Some(file) = &args.webhooks.extra_roots {
        tls::read_certificates(file)?;
    }
    circuits::read(args.service.circuits.as_deref())?;
    logs::filter(&args.log)?;
    if let Some(url) = &args.http.base_url {
        BaseUrl::new(Some(url), url)?;
    }
    Ok(format!("to be served on {}://{}", config::scheme(&args.http), args.http.listen))
}

fn surprises(http: &HttpArgs) -> Vec<&'static str> {
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
