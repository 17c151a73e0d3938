//! Receipts. A receipt is the state of a sent envelope, such as delivered or opened. The policy of the recipient
//! decides how much of this state the sender sees.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FormatError, Timestamp, named_enum::named_enum};

named_enum! {
    /// The part of a receipt (the state of a sent envelope) that the recipient shows to the sender.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, JsonSchema, Deserialize, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReceiptPolicy {
        /// The sender sees only that the envelope was sent.
        None = "none",
        /// The sender sees whether the envelope was delivered, waits or bounced, but not whether it was opened.
        #[default]
        Notified = "notified",
        /// The sender sees the whole state, including whether the envelope was opened.
        Opened = "opened",
    }
}

named_enum! {
    /// The state of an envelope, as its sender sees it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReceiptState {
        /// The envelope could not be delivered. No further delivery attempt is scheduled.
        Bounced = "bounced",
        /// A webhook of the recipient responded with success.
        Notified = "notified",
        /// The recipient opened the envelope.
        Opened = "opened",
        /// The envelope is stored. No other state applies, or the recipient hides the other state.
        Sent = "sent",
        /// The envelope waits, because its recipient has no webhook for received envelopes.
        Waiting = "waiting",
    }
}

/// The stored data that determines the [`ReceiptState`] of an envelope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptFacts {
    /// Whether the envelope bounced.
    pub is_bounced: bool,
    /// Whether the envelope waits for a webhook of its recipient.
    pub is_waiting: bool,
    /// Time of the first successful delivery. `None` if no delivery has succeeded.
    pub notified_at: Option<Timestamp>,
    /// Time of the first opening. `None` if the envelope was not opened.
    pub opened_at: Option<Timestamp>,
}

/// The receipt of an envelope: its state and times, as far as the recipient shows them to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ReceiptView {
    /// State of the envelope.
    pub state: ReceiptState,
    /// Time of the first successful delivery; null if no delivery has succeeded, or if the recipient hides this time.
    pub notified_at: Option<Timestamp>,
    /// Time of the first opening; null if the envelope was not opened, or if the recipient hides this time.
    pub opened_at: Option<Timestamp>,
}

impl ReceiptPolicy {
    /// Returns the receipt as the sender sees it, without the data that this policy hides.
    pub fn view(self, facts: &ReceiptFacts) -> ReceiptView {
        let shown = match self {
            Self::None => ReceiptFacts::default(),
            Self::Notified => ReceiptFacts { opened_at: None, ..*facts },
            Self::Opened => *facts,
        };
        let ReceiptFacts { notified_at, opened_at, .. } = shown;
        ReceiptView { state: shown.state(), notified_at, opened_at }
    }
}

impl ReceiptFacts {
    /// Returns the first state that applies: opened, notified, bounced, waiting, sent. A bounced envelope can still be
    /// delivered or opened later, so opened and notified take precedence.
    const fn state(&self) -> ReceiptState {
        if self.opened_at.is_some() {
            ReceiptState::Opened
        } else if self.notified_at.is_some() {
            ReceiptState::Notified
        } else if self.is_bounced {
            ReceiptState::Bounced
        } else if self.is_waiting {
            ReceiptState::Waiting
        } else {
            ReceiptState::Sent
        }
    }
}

/// The value of the header `Idempotency-Key`: 1 to 255 printable ASCII characters. Each sending API key has its own
/// idempotency keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses the value of the header `Idempotency-Key`.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if (1..=255).contains(&text.len()) && printable {
            Ok(Self(text.to_owned()))
        } else {
            Err(FormatError("must have 1 to 255 printable ASCII characters"))
        }
    }

    /// Returns the idempotency key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Identifies the content of a request, to detect an idempotency key that is used again for another request. An
/// HMAC-SHA256 whose key derives from the sender's root (the secret of its identity). Without this key, a leaked
/// database does not let an attacker test guesses of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_decides_which_facts_are_shown() {
        use ReceiptPolicy as P;
        use ReceiptState as S;
        let [notified_at, opened_at] = [5, 7].map(|at| Some(Timestamp::from_millis(at)));
        let stored = ReceiptFacts::default();
        for (facts, expected) in [
            (stored, [S::Sent, S::Sent, S::Sent]),
            (ReceiptFacts { is_waiting: true, ..stored }, [S::Sent, S::Waiting, S::Waiting]),
            (ReceiptFacts { is_bounced: true, ..stored }, [S::Sent, S::Bounced, S::Bounced]),
            (ReceiptFacts { notified_at, ..stored }, [S::Sent, S::Notified, S::Notified]),
            (ReceiptFacts { opened_at, ..stored }, [S::Sent, S::Sent, S::Opened]),
            (
                ReceiptFacts { is_bounced: true, notified_at, opened_at, is_waiting: false },
                [S::Sent, S::Notified, S::Opened],
            ),
        ] {
            let views = [P::None, P::Notified, P::Opened].map(|policy| policy.view(&facts));
            assert_eq!(views.map(|view| view.state), expected, "{facts:?}");
            let notified = [None, facts.notified_at, facts.notified_at];
            assert_eq!(views.map(|view| view.notified_at), notified);
            assert_eq!(views.map(|view| view.opened_at), [None, None, facts.opened_at]);
        }
    }

    #[test]
    fn keys_are_printable_and_of_bounded_length() {
        for good in ["a", "a b", "\"quoted\"", &"x".repeat(255)] {
            assert!(IdempotencyKey::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a\tb", "ü", &"x".repeat(256)] {
            assert!(IdempotencyKey::parse(bad).is_err(), "{bad}");
        }
    }
}
