//! Command-line settings of webhook delivery: retries, timeouts, queue, circuit breaker and denied networks.

use std::path::PathBuf;

use clap::Args;
use ipnet::IpNet;
use sealpost_node::settings::{DispatcherSettings, RetrySchedule, WebhookSettings};

use super::{
    api::network,
    values::{Span, positive},
};

/// The settings of event delivery to webhooks.
#[derive(Args, Clone)]
#[command(next_help_heading = "Webhooks")]
pub(super) struct WebhookArgs {
    /// Pauses before the retries of a failed delivery. After 429, 502, 504 or a timeout, a pause is at least 60 s, or
    /// 12 times the first pause if that is shorter. `Retry-After` of a 429 or 503 response can extend a pause to twice
    /// its length or 1 h, whichever is longer, but at most 24 h
    #[arg(
        long = "webhook-retry-schedule",
        env = "SEALPOST_WEBHOOK_RETRY_SCHEDULE",
        default_value_t = DispatcherSettings::default().schedule,
        value_name = "SPANS"
    )]
    retry_schedule: RetrySchedule,
    /// Time in which a receiver must respond
    #[arg(
        long = "webhook-timeout",
        env = "SEALPOST_WEBHOOK_TIMEOUT",
        default_value_t = Span(DispatcherSettings::default().timeout),
        value_name = "SPAN"
    )]
    timeout: Span,
    /// Time for which a node reserves a delivery for itself (lease); at least the timeout plus 10 s
    #[arg(
        long = "webhook-lease",
        env = "SEALPOST_WEBHOOK_LEASE",
        default_value_t = Span(DispatcherSettings::default().lease),
        value_name = "SPAN"
    )]
    lease: Span,
    /// Largest number of deliveries in memory; the others wait in the database
    #[arg(
        id = "webhook-queue",
        long = "webhook-queue",
        env = "SEALPOST_WEBHOOK_QUEUE",
        default_value_t = DispatcherSettings::default().queue_max,
        value_name = "N",
        value_parser = positive
    )]
    queue: usize,
    /// Largest number of attempts in flight, shared equally by the delivery threads
    #[arg(
        long = "webhook-in-flight",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT",
        default_value_t = DispatcherSettings::default().in_flight_max,
        value_name = "N",
        value_parser = positive
    )]
    in_flight: usize,
    /// Largest number of attempts in flight per webhook
    #[arg(
        long = "webhook-in-flight-per-target",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT_PER_TARGET",
        default_value_t = DispatcherSettings::default().in_flight_per_target,
        value_name = "N",
        value_parser = positive
    )]
    in_flight_per_target: usize,
    /// Largest number of attempts in flight per account; if omitted, an eighth of `--webhook-in-flight`. Each delivery
    /// thread has an equal part, at least `--webhook-in-flight-per-target`
    #[arg(
        long = "webhook-in-flight-per-account",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT_PER_ACCOUNT",
        value_name = "N",
        value_parser = positive
    )]
    in_flight_per_account: Option<usize>,
    /// Largest number of attempts in flight per host over all webhooks, shared equally by the delivery threads
    #[arg(
        long = "webhook-in-flight-per-host",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT_PER_HOST",
        default_value_t = DispatcherSettings::default().in_flight_per_host,
        value_name = "N",
        value_parser = positive
    )]
    in_flight_per_host: usize,
    /// Largest number of attempts per minute and host over all webhooks of this node. Further deliveries wait
    #[arg(
        long = "webhook-per-minute-per-host",
        env = "SEALPOST_WEBHOOK_PER_MINUTE_PER_HOST",
        default_value_t = DispatcherSettings::default().per_minute_per_host,
        value_name = "N",
        value_parser = positive
    )]
    per_minute_per_host: usize,
    /// Consecutive attempts without a response that open the circuit breaker of a webhook. An open breaker admits one
    /// probe at a time, until a probe gets a response
    #[arg(
        long = "webhook-breaker-failures",
        env = "SEALPOST_WEBHOOK_BREAKER_FAILURES",
        default_value_t = DispatcherSettings::default().breaker_failures,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    breaker_failures: u32,
    /// Longest pause between probes of a webhook with an open circuit breaker. The first pause is 5 s, and each pause
    /// doubles the one before. If the retry schedule starts with less than 5 s, the first and the longest pause shrink
    /// in proportion
    #[arg(
        long = "webhook-probe-pause-max",
        env = "SEALPOST_WEBHOOK_PROBE_PAUSE_MAX",
        default_value_t = Span(DispatcherSettings::default().probe_pause_max),
        value_name = "SPAN"
    )]
    probe_pause_max: Span,
    /// Network that no webhook may lead to, such as 198.51.0.0/16. Repeat the option for further networks. Non-public
    /// networks are denied anyway
    #[arg(
        long = "webhook-deny",
        env = "SEALPOST_WEBHOOK_DENY",
        value_name = "CIDR",
        value_delimiter = ',',
        value_parser = network
    )]
    denied: Vec<IpNet>,
    /// PEM file of certificate authorities for receivers, in addition to the public ones
    #[arg(long = "webhook-extra-roots", env = "SEALPOST_WEBHOOK_EXTRA_ROOTS", value_name = "FILE")]
    extra_roots: Option<PathBuf>,
}

impl From<&WebhookArgs> for WebhookSettings {
    fn from(args: &WebhookArgs) -> Self {
        let WebhookArgs {
            retry_schedule,
            timeout,
            lease,
            queue,
            in_flight,
            in_flight_per_target,
            in_flight_per_account,
            in_flight_per_host,
            per_minute_per_host,
            breaker_failures,
            probe_pause_max,
            denied,
            extra_roots,
        } = args;
        let mut defaults = DispatcherSettings::default();
        defaults.policy.denied.clone_from(denied);
        let dispatcher = DispatcherSettings {
            schedule: retry_schedule.clone(),
            timeout: timeout.0,
            lease: lease.0,
            queue_max: *queue,
            in_flight_max: *in_flight,
            in_flight_per_target: *in_flight_per_target,
            in_flight_per_account: *in_flight_per_account,
            in_flight_per_host: *in_flight_per_host,
            per_minute_per_host: *per_minute_per_host,
            breaker_failures: *breaker_failures,
            probe_pause_max: probe_pause_max.0,
            // The node later sets `policy.dev`, `events` and `retention`, and adds certificates to `extra_roots`.
            // `policy` already contains the denied networks of `--webhook-deny`. The other fields below have no flag,
            // and keep their defaults.
            worker_threads: defaults.worker_threads,
            sweep_every: defaults.sweep_every,
            claim_max: defaults.claim_max,
            retention: defaults.retention,
            drain: defaults.drain,
            policy: defaults.policy,
            events: defaults.events,
            extra_roots: defaults.extra_roots,
        };
        Self { dispatcher, extra_roots: extra_roots.clone() }
    }
}
