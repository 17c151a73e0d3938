//! The results as rows of a Markdown table.

use hdrhistogram::Histogram;

use super::{Outcome, bystander::Experience};
use crate::{report::Latency, stage::database::Engine};

/// A figure of the attack itself.
pub(crate) struct Figure {
    pub(crate) what: &'static str,
    pub(crate) value: String,
}

pub(crate) fn print_head(engine: &Engine) {
    println!("\n{}\n", engine.version());
    println!("| attack | measure | alone | attacked |\n|---|---|---|---|");
}

pub(crate) fn print_rows(attack: &str, outcome: &Outcome) {
    let Outcome { alone, attacked, figures } = outcome;
    println!("| `{attack}` | send, ms | {} | {} |", sends(alone), sends(attacked));
    println!("| | event, ms | {} | {} |", events(alone), events(attacked));
    for Figure { what, value } in figures {
        println!("| | {what} | | {value} |");
    }
}

fn sends(experience: &Experience) -> String {
    let latency = latency(&experience.sends);
    let failed: u64 = experience.failures.values().sum();
    if failed == 0 {
        return latency;
    }
    let kinds: Vec<_> = experience.failures.keys().map(String::as_str).collect();
    format!("{latency}; {failed} of {} failed: {}", experience.sends.len(), kinds.join(", "))
}

fn events(experience: &Experience) -> String {
    with_undelivered(latency(&experience.events), experience.undelivered)
}

/// Adds the number of undelivered events to a cell, if there are any.
pub(crate) fn with_undelivered(cell: String, undelivered: usize) -> String {
    if undelivered == 0 { cell } else { format!("{cell}; {undelivered} not delivered") }
}

/// Returns median, 99th percentile and maximum in milliseconds.
fn latency(micros: &Histogram<u64>) -> String {
    let Latency { p50, p99, max, .. } = Latency::of(micros);
    [p50, p99, max].map(millis).join(" / ")
}

fn millis(ms: f64) -> String {
    if ms < 10.0 { format!("{ms:.1}") } else { format!("{ms:.0}") }
}
