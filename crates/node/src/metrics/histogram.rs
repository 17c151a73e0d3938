//! A histogram with fixed buckets: an atomic counter per bucket, and the sum.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
};

/// Counts values by bucket, and sums up all values.
#[derive(Debug)]
pub(super) struct Histogram {
    bounds: &'static [f64],
    /// One counter for each upper bound, and one for values above all bounds. A value increments only the counter of
    /// the smallest bound that the value does not exceed. [`write`](Self::write) adds the counters up.
    counts: Vec<AtomicU64>,
    /// The sum of all values, as the bits of an `f64`.
    sum: AtomicU64,
}

impl Histogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum: AtomicU64::new(0.0_f64.to_bits()) }
    }

    /// Writes the lines of the Prometheus text format. `labels` is the text between the braces, such as
    /// `method="GET"`.
    pub(super) fn write(&self, out: &mut String, name: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut total: u64 = 0;
        let bounds = self.bounds.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(&self.counts) {
            total = total.saturating_add(count.load(Ordering::Relaxed));
            // Writing to a string cannot fail.
            writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}").ok();
        }
        let braced = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let sum = f64::from_bits(self.sum.load(Ordering::Relaxed));
        writeln!(out, "{name}_sum{braced} {sum}\n{name}_count{braced} {total}").ok();
    }
}

impl metrics::HistogramFn for Histogram {
    fn record(&self, value: f64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // Ignores the result: `fetch_update` fails only if `add` returns `None`, and `add` never does.
        self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok();
    }
}
