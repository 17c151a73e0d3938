//! Checks the settings of a server: fails for contradictions, and warns about values with unexpected effects.

use crate::{
    composition::read_extra_roots,
    doctor::finding::Finding,
    error::NodeError,
    files::{circuits, console, reserved_handles},
    keys::source::KeySource,
    settings::{Settings, base_url::BaseUrl, checks},
};

pub(super) fn check(settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![Finding::new("settings", valid(settings))];
    findings.extend(surprises(settings).into_iter().map(|text| Finding::warn("settings", text)));
    findings
}

fn valid(settings: &Settings) -> Result<String, NodeError> {
    let http = &settings.http;
    checks::check(settings)?;
    KeySource::new(&settings.keys, &settings.database)?;
    if let Some(file) = &settings.webhooks.extra_roots {
        read_extra_roots(file)?;
    }
    circuits::read(settings.circuits.as_deref())?;
    reserved_handles::read(settings.reserved_handles.as_deref())?;
    if let Some(file) = &settings.console.password_file {
        console::read(file)?;
    }
    if let Some(url) = &http.base_url {
        BaseUrl::new(Some(url), url)?;
    }
    Ok(format!("the server will listen on {}://{}", http.scheme(), http.listen))
}

fn surprises(settings: &Settings) -> Vec<&'static str> {
    let (http, api) = (&settings.http, &settings.api);
    let mut surprises = Vec::new();
    if settings.service.message_bytes_max >= api.max_body_bytes {
        surprises.push(
            "the largest message does not fit into a body: raise --max-body-bytes, or lower --max-message-bytes",
        );
    }
    if http.behind_tls_proxy && api.trusted_proxies.as_ref().is_none_or(Vec::is_empty) {
        surprises.push(
            "all clients have the address of the TLS proxy and share its rate limits: give the proxy's network with \
             --trusted-proxy",
        );
    }
    if http.base_url.is_none() && (http.listen.ip().is_unspecified() || http.behind_tls_proxy) {
        surprises.push(
            "links and ids would contain an address that callers cannot reach: give --base-url",
        );
    }
    if http.base_url.as_ref().is_some_and(|url| !url.starts_with("https://"))
        && !http.listen.ip().is_loopback()
    {
        surprises.push("--base-url does not begin with https://, but callers can use only https");
    }
    surprises
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::doctor::finding::Verdict;

    type Change = fn(&mut Settings, Option<PathBuf>);

    #[test]
    fn a_largest_message_that_fits_into_no_body_is_a_warning() {
        let mut settings = Settings::default();
        settings.service.message_bytes_max = settings.api.max_body_bytes;
        let found = check(&settings);
        assert_eq!(found[0].verdict, Verdict::Ok);
        assert_eq!(found[1].verdict, Verdict::Warn);
        assert!(found[1].detail.contains("--max-message-bytes"), "{}", found[1].detail);
    }

    #[test]
    fn a_missing_file_of_the_settings_fails() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Some(folder.path().join("missing"));
        let changes: [Change; 4] = [
            |settings, file| settings.circuits = file,
            |settings, file| settings.webhooks.extra_roots = file,
            |settings, file| settings.console.password_file = file,
            |settings, file| settings.reserved_handles = file,
        ];
        assert_eq!(check(&Settings::default())[0].verdict, Verdict::Ok);
        for change in changes {
            let mut settings = Settings::default();
            change(&mut settings, missing.clone());
            let found = &check(&settings)[0];
            assert_eq!(found.verdict, Verdict::Fail);
            assert!(found.detail.contains("missing"), "{}", found.detail);
        }
    }
}
