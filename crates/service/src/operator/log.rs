//! Begins a new transparency log, after a restore has made the database older than the signed log.

use schemars::JsonSchema;
use sealpost_domain::ports::LogHead;
use serde::Serialize;
use serde_json::json;

use crate::{
    acts::audited::{ActionRecord, Concerned, Operator, OperatorError},
    transparency::kept::numbered,
};

/// The names of the ended log and of the new one.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct LogRestarted {
    /// The name of the ended log.
    pub ended: String,
    /// The name of the new log.
    pub log: String,
}

impl Operator {
    /// Ends the transparency log and begins one with another name. Nodes append all
    /// [statements](sealpost_domain::ports::StatementKind) (texts about keys, badges and the audit trail) again, except
    /// those about envelopes. Fails if there is no log yet.
    pub fn restart_log(&self) -> Result<LogRestarted, OperatorError> {
        self.perform(|tx| {
            let head = tx.lock_log()?.ok_or(OperatorError::Pointless(NO_LOG))?;
            let (ended, log) = (head.origin.clone(), next_name(&head.origin));
            tx.restart_log(&LogHead {
                origin: log.clone(),
                size: 0,
                checkpoint: String::new(),
                witnessed: None,
                ..head
            })?;
            let detail = json!({"ended": ended, "log": log});
            let record = ActionRecord::new("log.restart", &log, Concerned::Service, detail);
            Ok((LogRestarted { ended, log }, record))
        })
    }
}

/// Returns the name of the log that follows `name`. `NAME/2` follows the first log `NAME`, and `NAME/3` follows
/// `NAME/2`.
fn next_name(name: &str) -> String {
    let (first, number) = numbered(name);
    format!("{first}/{}", number.saturating_add(1))
}

const NO_LOG: &str = "there is no log yet: a server begins one";

#[cfg(test)]
mod tests {
    use super::next_name;

    #[test]
    fn each_log_has_a_name_of_its_own() {
        let names = ["example.org/log", "example.org/log/2", "example.org/log/10", "a.org/log/log"];
        let next =
            ["example.org/log/2", "example.org/log/3", "example.org/log/11", "a.org/log/log/2"];
        assert_eq!(names.map(next_name), next);
    }
}
