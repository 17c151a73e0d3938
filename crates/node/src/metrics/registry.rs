//! Implements the recorder of the facade crate `metrics`. Finds or creates a series (a metric with one combination of
//! labels), and renders all series for Prometheus.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use parking_lot::RwLock;

use super::{
    catalogue::{Kind, Metric},
    histogram::Histogram as BucketCounts,
};

/// Holds all series of the process: the values of each metric for each combination of labels. A default registry has no
/// metrics and ignores all records.
#[derive(Debug, Default)]
pub struct Registry {
    families: BTreeMap<&'static str, Family>,
    /// Series by the key of the facade crate `metrics`, so that a look-up allocates no label text.
    known: RwLock<HashMap<Key, Cell>>,
}

/// One metric with its series. The key of a series is the text of its labels, such as `method="GET"`.
#[derive(Debug)]
struct Family {
    metric: &'static Metric,
    series: RwLock<BTreeMap<String, Cell>>,
}

#[derive(Debug, Clone)]
enum Cell {
    Count(Arc<AtomicU64>),
    Histogram(Arc<BucketCounts>),
    /// A number with a fraction, stored as the bits of an `f64`.
    Value(Arc<AtomicU64>),
}

impl Registry {
    /// Creates a registry that exports only these metrics.
    pub(crate) fn new(metrics: &'static [Metric]) -> Self {
        let families = metrics
            .iter()
            .map(|metric| (metric.name, Family { metric, series: RwLock::default() }));
        Self { families: families.collect(), known: RwLock::default() }
    }

    /// Renders the text format of Prometheus, version 0.0.4.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        for (name, family) in &self.families {
            let series = family.series.read();
            if series.is_empty() {
                continue;
            }
            let kind = match family.metric.kind {
                Kind::Counter | Kind::Sum => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram(_) => "histogram",
            };
            // Writing to a string cannot fail.
            writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", family.metric.help).ok();
            for (labels, cell) in &*series {
                cell.write(&mut out, name, labels);
            }
        }
        out
    }

    fn cell(&self, key: &Key) -> Option<Cell> {
        if let Some(cell) = self.known.read().get(key) {
            return Some(cell.clone());
        }
        let cell = self.families.get(key.name())?.cell(&label_text(key))?;
        let mut known = self.known.write();
        Some(known.entry(key.clone()).or_insert(cell).clone())
    }
}

impl Family {
    fn cell(&self, labels: &str) -> Option<Cell> {
        if let Some(cell) = self.series.read().get(labels) {
            return Some(cell.clone());
        }
        let mut series = self.series.write();
        // This limit bounds the memory if a label has an unbounded number of values by mistake.
        if series.len() >= SERIES_MAX {
            return None;
        }
        let cell = series.entry(labels.to_owned()).or_insert_with(|| Cell::new(self.metric.kind));
        Some(cell.clone())
    }
}

impl Cell {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Count(Arc::default()),
            Kind::Gauge | Kind::Sum => Self::Value(Arc::new(AtomicU64::new(0.0_f64.to_bits()))),
            Kind::Histogram(bounds) => Self::Histogram(Arc::new(BucketCounts::new(bounds))),
        }
    }

    fn write(&self, out: &mut String, name: &str, labels: &str) {
        let braced = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        match self {
            Self::Count(count) => {
                writeln!(out, "{name}{braced} {}", count.load(Ordering::Relaxed)).ok();
            }
            Self::Histogram(counts) => counts.write(out, name, labels),
            Self::Value(bits) => {
                let value = f64::from_bits(bits.load(Ordering::Relaxed));
                writeln!(out, "{name}{braced} {value}").ok();
            }
        }
    }
}

/// Ignores metrics that are not in the catalogue, and metrics of another type than in the catalogue.
impl Recorder for Registry {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        match self.cell(key) {
            Some(Cell::Count(count)) => Counter::from_arc(count),
            _ => Counter::noop(),
        }
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        match self.cell(key) {
            Some(Cell::Value(bits)) => Gauge::from_arc(bits),
            _ => Gauge::noop(),
        }
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        match self.cell(key) {
            Some(Cell::Histogram(counts)) => Histogram::from_arc(counts),
            _ => Histogram::noop(),
        }
    }
}

/// Returns the labels in the text format of Prometheus, without the braces: `label="value",…`.
fn label_text(key: &Key) -> String {
    let mut text = String::new();
    for label in key.labels() {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(label.key());
        text.push_str("=\"");
        for symbol in label.value().chars() {
            match symbol {
                '\\' => text.push_str("\\\\"),
                '"' => text.push_str("\\\""),
                '\n' => text.push_str("\\n"),
                other => text.push(other),
            }
        }
        text.push('"');
    }
    text
}

/// The largest number of series (combinations of labels) per metric. The metric of requests, with labels for method,
/// route and status, stays far below this number.
const SERIES_MAX: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    static METRICS: [Metric; 3] = [
        Metric { name: "a_total", kind: Kind::Counter, help: "A." },
        Metric { name: "b", kind: Kind::Gauge, help: "B." },
        Metric { name: "c_seconds", kind: Kind::Histogram(&[0.5, 1.0]), help: "C." },
    ];

    fn text_after(work: impl FnOnce()) -> String {
        let registry = Registry::new(&METRICS);
        metrics::with_local_recorder(&registry, work);
        registry.render()
    }

    #[test]
    fn the_text_follows_the_format() {
        let text = text_after(|| {
            metrics::counter!("a_total", "code" => "x\"y\\z\n").increment(2);
            metrics::counter!("a_total", "code" => "x\"y\\z\n").increment(1);
            metrics::gauge!("b").set(-1.5);
            for value in [0.5, 0.75, 2.0] {
                metrics::histogram!("c_seconds", "pool" => "p").record(value);
            }
        });
        let expected = "# HELP a_total A.\n# TYPE a_total counter\na_total{code=\"x\\\"y\\\\z\\n\"} 3\n\
            # HELP b B.\n# TYPE b gauge\nb -1.5\n\
            # HELP c_seconds C.\n# TYPE c_seconds histogram\n\
            c_seconds_bucket{pool=\"p\",le=\"0.5\"} 1\nc_seconds_bucket{pool=\"p\",le=\"1\"} 2\n\
            c_seconds_bucket{pool=\"p\",le=\"+Inf\"} 3\n\
            c_seconds_sum{pool=\"p\"} 3.25\nc_seconds_count{pool=\"p\"} 3\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn metrics_outside_the_catalogue_are_not_exported() {
        let text = text_after(|| {
            metrics::counter!("unknown_total").increment(1);
            // The right name with the wrong type.
            metrics::gauge!("a_total").set(7);
        });
        assert_eq!(text.matches('7').count() + text.matches("unknown").count(), 0, "{text}");
    }

    #[test]
    fn an_unbounded_label_does_not_exhaust_the_memory() {
        let registry = Registry::new(&METRICS);
        metrics::with_local_recorder(&registry, || {
            for number in 0..=SERIES_MAX {
                metrics::counter!("a_total", "id" => number.to_string()).increment(1);
            }
        });
        assert_eq!(registry.render().lines().count(), SERIES_MAX + 2);
        assert_eq!(registry.known.into_inner().len(), SERIES_MAX);
    }
}
