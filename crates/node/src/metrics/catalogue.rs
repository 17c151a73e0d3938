//! Lists all exported metrics. Tests compare `docs/operating/monitoring.md`, the dashboard and the alerts with this
//! list.

/// Name, type and help text of a metric.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) help: &'static str,
}

/// The type of a metric.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A count that only increases.
    Counter,
    /// A value that increases and decreases.
    Gauge,
    /// A distribution, with the upper bounds of its buckets.
    Histogram(&'static [f64]),
    /// A counter with a fractional value that is read from the operating system.
    Sum,
}

/// All metrics in the order of their names.
pub(crate) static CATALOGUE: [Metric; 38] = [
    metric("process_cpu_seconds_total", Kind::Sum, "User and system CPU time in seconds."),
    gauge("process_max_fds", "Maximum number of open file descriptors."),
    gauge("process_open_fds", "Number of open file descriptors."),
    gauge("process_resident_memory_bytes", "Resident memory in bytes."),
    gauge("process_start_time_seconds", "Start time of the process, in unix time."),
    gauge("sealpost_anonymous_connections", "Connections of clients that have not authenticated."),
    counter(
        "sealpost_anonymous_connections_evicted_total",
        "Connections closed in favour of newer ones before they authenticated.",
    ),
    gauge("sealpost_body_memory_bytes", "Memory of large request bodies in bytes."),
    gauge("sealpost_breakers_open", "Webhooks with an open circuit breaker. They get only probes."),
    gauge("sealpost_build_info", "Always 1. The label has the version."),
    gauge("sealpost_cache_entries", "Number of entries, by cache."),
    counter("sealpost_cache_lookups_total", "Look-ups by cache and result: hit, miss."),
    metric(
        "sealpost_commit_batch_size",
        Kind::Histogram(&SIZES),
        "Number of requests in one commit; each message of a send-batch counts.",
    ),
    metric("sealpost_commit_duration_seconds", Kind::Histogram(&FAST), "Duration of a commit."),
    counter("sealpost_commit_failures_total", "Batches that were not stored."),
    gauge(
        "sealpost_commit_queue_bytes",
        "Memory of the sealed messages that wait for a commit or are being committed, in bytes.",
    ),
    gauge("sealpost_commit_queue_depth", "Requests that wait for a commit."),
    gauge("sealpost_database_pool_connections", "Connections by pool and state: busy, idle."),
    counter(
        "sealpost_database_pool_timeouts_total",
        "Timeouts while waiting for a connection, by pool.",
    ),
    metric(
        "sealpost_database_pool_wait_seconds",
        Kind::Histogram(&FAST),
        "Waiting time for a connection, by pool.",
    ),
    gauge("sealpost_deliveries_held", "Deliveries in memory, queued or in flight."),
    gauge("sealpost_deliveries_in_flight", "Attempts in flight."),
    counter(
        "sealpost_deliveries_postponed_total",
        "Deliveries released without an attempt, because the circuit breaker is open, memory has no room, or the webhook is disabled.",
    ),
    counter(
        "sealpost_deliveries_settled_total",
        "Attempts by outcome: succeeded, retried, exhausted.",
    ),
    metric(
        "sealpost_delivery_duration_seconds",
        Kind::Histogram(&SLOW),
        "Duration of an attempt, with the look-up of the host name.",
    ),
    counter("sealpost_delivery_failures_total", "Failed attempts, by reason."),
    metric(
        "sealpost_http_request_duration_seconds",
        Kind::Histogram(&SLOW),
        "Duration of a request, by route.",
    ),
    counter("sealpost_http_requests_total", "Requests, by method, route and status."),
    gauge("sealpost_last_commit_age_seconds", "Time since the last durable commit of this node."),
    counter(
        "sealpost_limits_refused_total",
        "Requests refused by a limit, by limit: account, address, second, minute, day, month.",
    ),
    gauge(
        "sealpost_oldest_snapshot_seconds",
        "Age of the oldest snapshot of another session, which keeps old row versions.",
    ),
    gauge(
        "sealpost_oldest_snapshot_transactions",
        "Number of transactions since the oldest snapshot of another session or slot.",
    ),
    counter(
        "sealpost_partition_changes_postponed_total",
        "Changes of partitions left to a later turn of housekeeping, by table and reason: lock, rows.",
    ),
    counter("sealpost_refusals_total", "Refused requests, by code."),
    gauge("sealpost_relay_connections", "Connections of relays to this node."),
    gauge(
        "sealpost_revocation_journal_pending",
        "Acts that are not in the revocation journal yet.",
    ),
    counter(
        "sealpost_sends_total",
        "Sends by outcome: stored, replayed, refused, stale (sealed again).",
    ),
    gauge(
        "sealpost_tls_certificate_not_after_seconds",
        "End of the certificate's validity, in unix time.",
    ),
];

const fn counter(name: &'static str, help: &'static str) -> Metric {
    metric(name, Kind::Counter, help)
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    metric(name, Kind::Gauge, help)
}

const fn metric(name: &'static str, kind: Kind, help: &'static str) -> Metric {
    Metric { name, kind, help }
}

/// Bucket bounds in seconds for operations on this machine or near it.
const FAST: [f64; 12] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];
/// Bucket bounds in seconds for operations that wait for clients or webhook receivers.
const SLOW: [f64; 13] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0];
const SIZES: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    const DOCUMENTS: [&str; 3] = [
        "docs/operating/monitoring.md",
        "docs/operating/alerts.yml",
        "docs/operating/grafana.json",
    ];

    /// Returns the text of a Markdown file without its code blocks.
    fn text_of(file: &str) -> String {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = fs::read_to_string(top.join(file)).unwrap();
        text.split("```").step_by(2).collect()
    }

    fn known() -> BTreeSet<&'static str> {
        CATALOGUE.iter().map(|metric| metric.name).collect()
    }

    /// Returns all names of metrics in a text. Removes the suffixes of the names in which a histogram is exported.
    fn named_in(text: &str) -> BTreeSet<String> {
        let words = text.split(|symbol: char| !symbol.is_ascii_alphanumeric() && symbol != '_');
        let named =
            words.filter(|word| word.starts_with("sealpost_") || word.starts_with("process_"));
        let base = |word: &str| {
            let cut =
                ["_bucket", "_count", "_sum"].into_iter().find_map(|end| word.strip_suffix(end));
            cut.filter(|base| is_histogram(base)).unwrap_or(word).to_owned()
        };
        named.map(base).collect()
    }

    fn is_histogram(name: &str) -> bool {
        let is_named = |metric: &&Metric| metric.name == name;
        let found = CATALOGUE.iter().find(is_named);
        found.is_some_and(|metric| matches!(metric.kind, Kind::Histogram(_)))
    }

    #[test]
    fn documents_name_only_existing_metrics() {
        for file in DOCUMENTS {
            let named = named_in(&text_of(file));
            assert!(named.len() > 5, "{file} names {named:?}");
            for name in named {
                assert!(known().contains(name.as_str()), "{file} names {name}");
            }
        }
    }

    #[test]
    fn the_page_and_the_dashboard_name_every_metric() {
        for file in ["docs/operating/monitoring.md", "docs/operating/grafana.json"] {
            let named = named_in(&text_of(file));
            let missing: Vec<_> =
                known().into_iter().filter(|name| !named.contains(*name)).collect();
            assert!(missing.is_empty(), "{file} does not name {missing:?}");
        }
    }

    /// Alerts must not add up the counts of several nodes, because each node counts the receivers that it has tried
    /// itself.
    #[test]
    fn no_alert_counts_a_silent_receiver_on_several_nodes() {
        let alerts = text_of("docs/operating/alerts.yml");
        assert!(alerts.contains("expr: max(sealpost_breakers_open)"));
        assert!(!alerts.contains("sum(sealpost_breakers_open)"));
    }

    #[test]
    fn every_panel_of_the_dashboard_queries_a_metric() {
        let dashboard: serde_json::Value =
            serde_json::from_str(&text_of("docs/operating/grafana.json")).unwrap();
        for panel in dashboard["panels"].as_array().unwrap() {
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{panel}");
            for target in targets {
                assert!(!named_in(target["expr"].as_str().unwrap()).is_empty(), "{target}");
            }
        }
    }
}
