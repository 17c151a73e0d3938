//! Settings of the webhooks.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use sealpost_node::RetrySchedule;

use super::positive;

/// How notices are delivered.
#[derive(Args, Clone)]
#[command(next_help_heading = "Webhooks")]
pub(crate) struct WebhookArgs {
    /// Spans after which a failed delivery is tried again. After 429, 502, 504 or a time-out it is at least 12 times
    /// the first span, at most 60 s; after 429 and 503, what `Retry-After` asks for within bounds
    #[arg(
        long = "webhook-retry-schedule",
        env = "SEALPOST_WEBHOOK_RETRY_SCHEDULE",
        default_value = "5s,5m,30m,2h,5h,10h,14h,20h,24h",
        value_name = "SPANS"
    )]
    pub(crate) retry_schedule: RetrySchedule,
    /// How long a receiver may take
    #[arg(
        long = "webhook-timeout",
        env = "SEALPOST_WEBHOOK_TIMEOUT",
        default_value = "15s",
        value_name = "SPAN",
        value_parser = humantime::parse_duration
    )]
    pub(crate) timeout: Duration,
    /// How long a node holds a delivery before another may take it; at least the timeout and 10 s
    #[arg(
        long = "webhook-lease",
        env = "SEALPOST_WEBHOOK_LEASE",
        default_value = "45s",
        value_name = "SPAN",
        value_parser = humantime::parse_duration
    )]
    pub(crate) lease: Duration,
    /// Deliveries held in memory at the most; the rest waits in the database
    #[arg(
        id = "webhook-queue",
        long = "webhook-queue",
        env = "SEALPOST_WEBHOOK_QUEUE",
        default_value_t = 10_000,
        value_name = "N",
        value_parser = positive
    )]
    pub(crate) queue: usize,
    /// Deliveries under way at the most; each thread that sends has an equal part of them
    #[arg(
        long = "webhook-in-flight",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT",
        default_value_t = 512,
        value_name = "N",
        value_parser = positive
    )]
    pub(crate) in_flight: usize,
    /// Deliveries under way to one webhook at the most
    #[arg(
        long = "webhook-in-flight-per-target",
        env = "SEALPOST_WEBHOOK_IN_FLIGHT_PER_TARGET",
        default_value_t = 8,
        value_name = "N",
        value_parser = positive
    )]
    pub(crate) in_flight_per_target: usize,
    /// Attempts in a row without an answer after which a webhook gets nothing but one probe at a time, until it
    /// answers
    #[arg(
        long = "webhook-breaker-failures",
        env = "SEALPOST_WEBHOOK_BREAKER_FAILURES",
        default_value_t = 5,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) breaker_failures: u32,
    /// How long such a webhook is left alone between probes at the most; at first 5 s, then twice as long each
    /// time. A schedule that begins sooner than after 5 s shortens both in proportion
    #[arg(
        long = "webhook-probe-pause-max",
        env = "SEALPOST_WEBHOOK_PROBE_PAUSE_MAX",
        default_value = "5m",
        value_name = "SPAN",
        value_parser = humantime::parse_duration
    )]
    pub(crate) probe_pause_max: Duration,
    /// PEM file of authorities that receivers' certificates may lead to, besides the public ones
    #[arg(long = "webhook-extra-roots", env = "SEALPOST_WEBHOOK_EXTRA_ROOTS", value_name = "FILE")]
    pub(crate) extra_roots: Option<PathBuf>,
}
