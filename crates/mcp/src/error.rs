//! The failures of tools, as results that the model can read.

use std::{error::Error, time::Duration};

use rmcp::model::{CallToolResult, ContentBlock};
use sealpost_client::ClientError;
use serde_json::{Value, json};

use crate::identity::StoreError;

/// The reason why a tool failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    #[error("the arguments are not valid: {0}")]
    Arguments(String),
    #[error(transparent)]
    Call(#[from] ClientError),
    #[error("there is no identity: call activate first")]
    NoIdentity,
    #[error(
        "{api_key_id} is active until this server ends, but its secrets are lost then: {source}"
    )]
    NotStored { api_key_id: String, source: StoreError },
    #[error("nothing was activated, because the identity cannot be stored: {source}")]
    StoreUnusable { source: StoreError },
}

impl ToolError {
    /// Returns the error result of the tool call. If the service refused a request, the result contains the code and
    /// the detail of the refusal.
    pub(crate) fn result(&self) -> CallToolResult {
        let error = match self {
            Self::Call(ClientError::Refused { problem, .. }) => json!({
                "code": problem.code,
                "status": problem.status,
                "field": problem.field,
                "detail": problem.detail,
                "retry_after_s": self.retry_after_s(),
            }),
            _ => {
                json!({"code": self.code(), "detail": chain(self), "retry_after_s": self.retry_after_s()})
            }
        };
        CallToolResult::error(vec![ContentBlock::text(json!({"error": error}).to_string())])
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "INVALID_ARGUMENTS",
            Self::Call(_) => "NO_RESPONSE",
            Self::NoIdentity => "NO_IDENTITY",
            Self::NotStored { .. } => "NOT_STORED",
            Self::StoreUnusable { .. } => "STORE_UNUSABLE",
        }
    }

    fn retry_after_s(&self) -> Value {
        let Self::Call(error) = self else { return Value::Null };
        error.retry_after().map_or(Value::Null, |wait| whole_seconds(wait).into())
    }
}

/// Returns a waiting time in seconds. Rounds fractions up, because a call before the end of this time would fail.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}

/// Returns an error and its causes as one line.
fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // An error with `#[error(transparent)]` has the same text as its source.
        if !line.ends_with(&error.to_string()) {
            line.push_str(": ");
            line.push_str(&error.to_string());
        }
        cause = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_a_second_is_waited_for() {
        for (wait, seconds) in [
            (Duration::ZERO, 0),
            (Duration::from_millis(1), 1),
            (Duration::from_millis(2500), 3),
            (Duration::from_mins(1), 60),
            (Duration::MAX, u64::MAX),
        ] {
            let path = "/v1/channel/send".to_owned();
            let busy = ClientError::NotSealpost { path, status: 503, retry_after: Some(wait) };
            assert_eq!(ToolError::Call(busy).retry_after_s(), json!(seconds), "{wait:?}");
        }
    }
}
