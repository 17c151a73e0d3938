//! `sealpost verify-proof`: verifies a proof of the transparency log from files. The proof is a proof file
//! ([`LogProof`]), [`Evidence`], or a [`CoseReceipt`]. The exit status is 0 if the proof is valid, 1 if the proof is
//! invalid, and 2 if the check was not possible.

use sealpost_domain::{Clock as _, Timestamp};
use sealpost_node::SystemClock;
use sealpost_receiver::escape_control;
use sealpost_transparency::{
    Accepted, CoseReceipt, Evidence, EvidenceError, LogProof, Policy, ProvenEntry, Statement,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{cli::VerifyProofArgs, command_error::CommandError, receiver::bounded, terminal};

/// The report on a valid proof.
#[derive(Serialize)]
struct Report {
    valid: bool,
    log: String,
    /// The number of the proven entry.
    index: u64,
    /// The number of entries in the log.
    size: u64,
    /// The time at which the entry was appended, according to the log.
    appended_at: Timestamp,
    witnesses: Vec<String>,
    kind: String,
    statement: Map<String, Value>,
}

/// Verifies the proof and prints a report. Fails if the proof is invalid.
pub(crate) fn run(args: &VerifyProofArgs) -> Result<(), CommandError> {
    let policy = text("the policy", bounded::read_text("the policy", &args.policy, BYTES_MAX)?)?;
    let policy = Policy::parse(&policy).map_err(CommandError::usage)?;
    let proof = bounded::read_text("the proof", &args.proof, BYTES_MAX)?;
    let now_s = args.at.unwrap_or_else(|| SystemClock.now().as_seconds());
    let now_s = u64::try_from(now_s).unwrap_or(0);
    let report = if proof.first() == Some(&CoseReceipt::FIRST_BYTE) {
        verify_receipt(&policy, &proof)
    } else {
        let proof = text("the proof", proof)?;
        if proof.starts_with(Evidence::FIRST_LINE) {
            verify_evidence(&policy, &proof, now_s)
        } else {
            verify(&policy, &proof, now_s)
        }
    };
    let report =
        report.map_err(|reason| CommandError::new(format!("the proof is invalid: {reason}")))?;
    terminal::print_report(&report, Report::text, args.json)
}

fn verify(policy: &Policy, proof: &str, now_s: u64) -> Result<Report, String> {
    let proof =
        LogProof::parse(proof).map_err(|fault| CommandError::caused_by(&fault).to_string())?;
    let statement = Statement::parse(&proof.extra);
    let statement = statement.ok_or("its extra data is no statement of a sealpost log")?;
    let accepted =
        policy.accept(&proof, &statement.entry(), now_s).map_err(|fault| fault.to_string())?;
    Ok(Report::new(accepted, proof.index, &statement))
}

fn verify_evidence(policy: &Policy, text: &str, now_s: u64) -> Result<Report, String> {
    let reason = |fault: EvidenceError| CommandError::caused_by(&fault).to_string();
    let evidence = Evidence::parse(text).map_err(reason)?;
    let accepted = evidence.accept(policy, now_s).map_err(reason)?;
    let Some((ProvenEntry { statement, index, .. }, others)) = evidence.entries.split_first()
    else {
        return Err("it has no entry".to_owned());
    };
    let mut report = Report::new(accepted, *index, statement);
    for other in others.iter().filter(|other| other.statement.kind != "envelopes") {
        let owner = other.statement.value("key").unwrap_or_default();
        let status = other.statement.value("status").unwrap_or_default();
        let name = format!("status of the {} of {owner}", other.statement.kind);
        report.statement.insert(name, status.into());
    }
    Ok(report)
}

fn verify_receipt(policy: &Policy, bytes: &[u8]) -> Result<Report, String> {
    let receipt = CoseReceipt::parse(bytes).map_err(|fault| fault.to_string())?;
    let accepted = policy.accept_receipt(&receipt).map_err(|fault| fault.to_string())?;
    Ok(Report::new(accepted, receipt.index, &receipt.statement))
}

impl Report {
    fn new(accepted: Accepted, index: u64, statement: &Statement) -> Self {
        let at_ms = i64::try_from(statement.at_ms).unwrap_or(i64::MAX);
        Self {
            valid: true,
            log: accepted.checkpoint.origin,
            index,
            size: accepted.checkpoint.size,
            appended_at: Timestamp::from_millis(at_ms),
            witnesses: accepted.witnesses,
            statement: statement
                .values()
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
            kind: statement.kind.clone(),
        }
    }

    fn text(&self) -> String {
        let Self { log, index, size, appended_at, witnesses, statement, .. } = self;
        let witnesses = if witnesses.is_empty() { "none".to_owned() } else { witnesses.join(", ") };
        let (log, witnesses) = (escape_control(log), escape_control(&witnesses));
        let head = format!(
            "valid: entry {index} of {size} in the log {log}\nappended at: {appended_at}\nwitnesses: {witnesses}\n"
        );
        let line = |(name, value): (&String, &Value)| {
            let line = format!("{name}: {}", value.as_str().unwrap_or_default());
            escape_control(&line) + "\n"
        };
        head + &statement.iter().map(line).collect::<Vec<_>>().concat()
    }
}

fn text(role: &str, bytes: Vec<u8>) -> Result<String, CommandError> {
    String::from_utf8(bytes).map_err(|_invalid| CommandError::usage(format!("{role} is not UTF-8")))
}

/// Maximum size of an input file in bytes. Large enough for a proof or a policy with a hundred witnesses.
const BYTES_MAX: u64 = 1_048_576;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_report_are_escaped() {
        let report = Report {
            valid: true,
            log: "example.org/\u{202e}log".to_owned(),
            index: 0,
            size: 1,
            appended_at: Timestamp::from_millis(0),
            witnesses: vec!["\u{9b}8m".to_owned()],
            kind: "key".to_owned(),
            statement: Map::from_iter([("key".to_owned(), "\u{1b}c".into())]),
        };
        let text = report.text();
        for escaped in ["log example.org/\\u{202e}log\n", "s: \\u{9b}8m\n", "key: \\u{1b}c\n"] {
            assert!(text.contains(escaped), "{text}");
        }
    }
}
