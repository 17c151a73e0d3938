//! `sealpost admin audit`: lists the entries of the audit trail, and verifies their hash chain.

use sealpost_node::checkpoint_file;
use sealpost_service::{AuditVerdict, AuditView};
use serde::Serialize;
use serde_json::Value;

use super::{
    desk::Desk,
    output::{Output, table},
};
use crate::{cli::AuditCommand as C, command_error::CommandError};

pub(super) fn run(desk: &Desk, output: Output, command: &C) -> Result<(), CommandError> {
    match command {
        C::List { after, limit } => {
            let entries = match after {
                None => desk.operator.newest_audit_entries(*limit)?,
                Some(after) => desk.operator.audit_entries(*after, *limit)?,
            };
            output.show_as(&Listed { entries }, |listed| {
                let entries = listed.get("entries").and_then(Value::as_array);
                table(entries.map(Vec::as_slice).unwrap_or_default(), &COLUMNS)
            })
        }
        C::Verify => verify(desk, output),
    }
}

#[derive(Serialize)]
struct Listed {
    entries: Vec<AuditView>,
}

fn verify(desk: &Desk, output: Output) -> Result<(), CommandError> {
    let kept = checkpoint_file(&desk.settings, &desk.database)?;
    let verdict = desk.operator.verify_audit(kept.as_deref())?;
    match &verdict {
        AuditVerdict::Whole { entries, hash } => output.show_as(&verdict, |_| {
            format!("the audit trail is complete: {entries} entries, the newest with hash {hash}\n")
        }),
        AuditVerdict::Broken { number, why } => {
            // Prints the verdict as JSON also for a broken trail, because scripts read the verdict from standard
            // output. In text format, only the error is printed.
            output.show_as(&verdict, |_| String::new())?;
            Err(CommandError::new(format!("the audit trail is broken at entry {number}: {why}")))
        }
    }
}

const COLUMNS: [&str; 6] = ["number", "at", "actor", "action", "subject", "detail"];
