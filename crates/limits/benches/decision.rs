//! Measures the time of one admission decision: `cargo bench -p sealpost-limits`. Each send needs one decision, made
//! while the transaction holds its locks.

use std::hint::black_box;

use criterion::Criterion;
use sealpost_domain::{ApiKeyId, EnterpriseTerms, Plan, Timestamp, Usage};
use sealpost_limits::{Terms, admit_message, admit_request, reached_thresholds, report};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    send(&mut criterion);
    compared(&mut criterion);
    refused(&mut criterion);
    reported(&mut criterion);
    criterion.final_summary();
}

/// Measures an admitted request with its admitted message.
fn send(criterion: &mut Criterion) {
    let terms = Terms::new(&Plan::Enterprise(UNBOUNDED));
    criterion.bench_function("admit a request and its message", |bencher| {
        let mut usage = Usage::UNUSED;
        bencher.iter(|| {
            // Resets the throughput limit, so that every decision takes the same branch.
            usage.throughput_tat_us = 0;
            let request = admit_request(black_box(&terms), &mut usage, black_box(NOW));
            request.and_then(|()| admit_message(&terms, &mut usage, NOW))
        });
    });
}

/// Measures the comparison of a key's usage before and after a send with the thresholds (80 % and 100 % of a limit). A
/// batch does this once for each sender.
fn compared(criterion: &mut Criterion) {
    let terms = Terms::new(&Plan::Enterprise(UNBOUNDED));
    let key = ApiKeyId::new(NOW, [7; 10]);
    let before = Usage::UNUSED;
    let mut after = before;
    if admit_request(&terms, &mut after, NOW)
        .and_then(|()| admit_message(&terms, &mut after, NOW))
        .is_err()
    {
        return;
    }
    criterion.bench_function("compare a send with the thresholds", |bencher| {
        bencher.iter(|| {
            let (before, after) = (black_box(&before), black_box(&after));
            reached_thresholds(&key, (&terms, before), (&terms, after), NOW)
        });
    });
}

fn refused(criterion: &mut Criterion) {
    let terms = Terms::new(&Plan::Explorer);
    let mut usage = Usage::UNUSED;
    while admit_request(&terms, &mut usage, NOW).is_ok() {}
    criterion.bench_function("refuse a request over its limit", |bencher| {
        bencher.iter(|| admit_request(black_box(&terms), &mut usage, black_box(NOW)));
    });
}

fn reported(criterion: &mut Criterion) {
    let terms = Terms::new(&Plan::Sovereign);
    criterion.bench_function("report where the limits stand", |bencher| {
        bencher.iter(|| report(black_box(&terms), black_box(&Usage::UNUSED), NOW));
    });
}

const UNBOUNDED: EnterpriseTerms = EnterpriseTerms {
    per_minute: u32::MAX,
    per_day: u32::MAX,
    per_month: u32::MAX,
    per_second: 1_000_000,
    allow_overage: true,
};
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
