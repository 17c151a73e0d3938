//! Bounds the requests to each host, both the number in flight and the number per minute.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use sealpost_domain::{Target, Timestamp, WebhookId};

use crate::{queue::host_rates::HostRates, settings::Settings};

/// The numbers of requests in flight and the waiting targets of each host, for one delivery worker.
pub(super) struct HostSlots {
    by_host: HashMap<String, OneHost>,
    in_flight_max: usize,
    rates: Arc<HostRates>,
}

#[derive(Default)]
struct OneHost {
    used: usize,
    /// Targets that wait until another request to the host is allowed, in the order of arrival.
    waiting: VecDeque<WebhookId>,
}

impl HostSlots {
    pub(super) fn new(settings: &Settings, rates: Arc<HostRates>) -> Self {
        let in_flight_max = settings.in_flight_per_host_and_worker();
        Self { by_host: HashMap::new(), in_flight_max, rates }
    }

    /// Counts a request against both limits of the host: requests in flight and requests per minute. If one of the
    /// limits is reached, counts nothing, lets the target wait for the host, and returns `false`.
    pub(super) fn acquire(&mut self, host: &str, target: WebhookId, now: Timestamp) -> bool {
        if !self.by_host.contains_key(host) {
            self.by_host.insert(host.to_owned(), OneHost::default());
        }
        let Some(of_host) = self.by_host.get_mut(host) else { return false };
        let is_free = of_host.used < self.in_flight_max && self.rates.acquire(host, now);
        if is_free {
            of_host.used += 1;
        } else {
            of_host.waiting.push_back(target);
        }
        is_free
    }

    /// Records the end of a request to the host. Removes and returns the target that has waited longest for the host;
    /// `None` if no target waits.
    pub(super) fn release(&mut self, host: &str) -> Option<WebhookId> {
        let of_host = self.by_host.get_mut(host)?;
        of_host.used = of_host.used.saturating_sub(1);
        let next = of_host.waiting.pop_front();
        if of_host.used == 0 && of_host.waiting.is_empty() {
            self.by_host.remove(host);
        }
        next
    }

    /// Removes and returns the waiting targets of all hosts that may have more requests in flight.
    ///
    /// [`release`](Self::release) returns a waiting target only at the end of a request. A target that waits for the
    /// next minute would wait forever if its host has no request in flight.
    pub(super) fn take_waiting(&mut self) -> Vec<WebhookId> {
        let hosts = self.by_host.values_mut().filter(|host| host.used < self.in_flight_max);
        let waiting = hosts.flat_map(|host| host.waiting.drain(..)).collect();
        self.by_host.retain(|_, host| host.used > 0 || !host.waiting.is_empty());
        waiting
    }
}

/// Returns the host of a target, without the port. Each relay is a host of its own.
pub(super) fn host_of(target: &Target) -> Cow<'_, str> {
    if target.is_relay() {
        return Cow::Owned(target.webhook_id.to_string());
    }
    Cow::Borrowed(host_of_url(&target.url))
}

/// Returns the host of a canonical URL, without the port.
fn host_of_url(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_no_port() {
        for (url, host) in [
            ("https://example.org/a:1/b", "example.org"),
            ("https://example.org:8443/", "example.org"),
            ("http://127.0.0.1:3000/?q=1:2", "127.0.0.1"),
            ("http://[::1]/", "[::1]"),
            ("http://[::1]:3000/", "[::1]"),
        ] {
            assert_eq!(host_of_url(url), host);
        }
    }
}
