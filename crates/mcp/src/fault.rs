//! The failures of tools, as results that the model can read.

use std::error::Error;

use rmcp::model::{CallToolResult, ContentBlock};
use sealpost_client::ClientError;
use serde_json::{Value, json};

use crate::identity::StoreError;

/// The reason why a tool failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolFault {
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
}

impl ToolFault {
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
        }
    }

    fn retry_after_s(&self) -> Value {
        let Self::Call(error) = self else { return Value::Null };
        error.retry_after().map_or(Value::Null, |wait| wait.as_secs().into())
    }
}

/// Returns an error and its causes as one line.
fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // A transparent error repeats the text of its source.
        if !line.ends_with(&error.to_string()) {
            line.push_str(": ");
            line.push_str(&error.to_string());
        }
        cause = error.source();
    }
    line
}
