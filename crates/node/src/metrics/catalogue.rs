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
    of("process_cpu_seconds_total", Kind::Sum, "User and system CPU time in seconds."),
    of("process_max_fds", Kind::Gauge, "Maximum number of open file descriptors."),
    of("process_open_fds", Kind::Gauge, "Number of open file descriptors."),
    of("process_resident_memory_bytes", Kind::Gauge, "Resident memory in bytes."),
    of("process_start_time_seconds", Kind::Gauge, "Start time of the process, in unix time."),
    of(
        "sealpost_anonymous_connections",
        Kind::Gauge,
        "Connections of clients that have not authenticated.",
    ),
    of(
        "sealpost_anonymous_connections_evicted_total",
        Kind::Counter,
        "Connections closed in favour of newer ones before they authenticated.",
    ),
    of("sealpost_body_memory_bytes", Kind::Gauge, "Memory of large request bodies in bytes."),
    of(
        "sealpost_breakers_open",
        Kind::Gauge,
        "Webhooks with an open circuit breaker. They get only probes.",
    ),
    of("sealpost_build_info", Kind::Gauge, "Always 1. The label has the version."),
    of("sealpost_cache_entries", Kind::Gauge, "Number of entries, by cache."),
    of("sealpost_cache_lookups_total", Kind::Counter, "Look-ups by cache and result: hit, miss."),
    of(
        "sealpost_commit_batch_size",
        Kind::Histogram(&SIZES),
        "Number of requests in one commit; each message of a send-batch counts.",
    ),
    of("sealpost_commit_duration_seconds", Kind::Histogram(&FAST), "Duration of a commit."),
    of("sealpost_commit_failures_total", Kind::Counter, "Batches that were not stored."),
    of(
        "sealpost_commit_queue_bytes",
        Kind::Gauge,
        "Memory of the sealed messages that wait for a commit or are being committed, in bytes.",
    ),
    of("sealpost_commit_queue_depth", Kind::Gauge, "Requests that wait for a commit."),
    of(
        "sealpost_database_pool_connections",
        Kind::Gauge,
        "Connections by pool and state: busy, idle.",
    ),
    of(
        "sealpost_database_pool_timeouts_total",
        Kind::Counter,
        "Timeouts while waiting for a connection, by pool.",
    ),
    of(
        "sealpost_database_pool_wait_seconds",
        Kind::Histogram(&FAST),
        "Waiting time for a connection, by pool.",
    ),
    of("sealpost_deliveries_held", Kind::Gauge, "Deliveries in memory, queued or in flight."),
    of("sealpost_deliveries_in_flight", Kind::Gauge, "Attempts in flight."),
    of(
        "sealpost_deliveries_postponed_total",
        Kind::Counter,
        "Deliveries released without an attempt, because the circuit breaker is open, memory has no room, or the webhook is disabled.",
    ),
    of(
        "sealpost_deliveries_settled_total",
        Kind::Counter,
        "Attempts by outcome: succeeded, retried, exhausted.",
    ),
    of(
        "sealpost_delivery_duration_seconds",
        Kind::Histogram(&SLOW),
        "Duration of an attempt, with the look-up of the host name.",
    ),
    of("sealpost_delivery_failures_total", Kind::Counter, "Failed attempts, by reason."),
    of(
        "sealpost_http_request_duration_seconds",
        Kind::Histogram(&SLOW),
        "Duration of a request, by route.",
    ),
    of("sealpost_http_requests_total", Kind::Counter, "Requests, by method, route and status."),
    of(
        "sealpost_last_commit_age_seconds",
        Kind::Gauge,
        "Time since the last durable commit of this node.",
    ),
    of(
        "sealpost_limits_refused_total",
        Kind::Counter,
        "Requests refused by a limit, by limit: account, address, second, minute, day, month.",
    ),
    of(
        "sealpost_oldest_snapshot_seconds",
        Kind::Gauge,
        "Age of the oldest snapshot of another session, which keeps old row versions.",
    ),
    of(
        "sealpost_oldest_snapshot_transactions",
        Kind::Gauge,
        "Number of transactions since the oldest snapshot of another session or slot.",
    ),
    of(
        "sealpost_partition_changes_postponed_total",
        Kind::Counter,
        "Changes of partitions left to a later turn of housekeeping, by table and reason: lock, rows.",
    ),
    of("sealpost_refusals_total", Kind::Counter, "Refused requests, by code."),
    of("sealpost_relay_connections", Kind::Gauge, "Connections of relays to this node."),
    of(
        "sealpost_revocation_journal_pending",
        Kind::Gauge,
        "Acts that are not in the revocation journal yet.",
    ),
    of(
        "sealpost_sends_total",
        Kind::Counter,
        "Sends by outcome: stored, replayed, refused, stale (sealed again).",
    ),
    of(
        "sealpost_tls_certificate_not_after_seconds",
        Kind::Gauge,
        "End of the certificate's validity, in unix time.",
    ),
];

const fn of(name: &'static str, kind: Kind, help: &'static str) -> Metric {
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

    /// Each node counts the receivers that it has tried itself.
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
