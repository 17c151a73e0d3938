//! Receipts: the part of an envelope's fate that its sender may see.

use schemars::JsonSchema;
use serde::Serialize;

/// How much a recipient shows to the senders of its envelopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptPolicy {
    /// Only that the envelope was sent.
    None,
    /// Everything except the opening.
    #[default]
    Notified,
    /// Everything.
    Opened,
}

impl ReceiptPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::None, Self::Notified, Self::Opened];

    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Notified => "notified",
            Self::Opened => "opened",
        }
    }

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}
