//! Webhooks: URLs of receivers for the events of an API key.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AccountId, ApiKeyId, EventKind, Timestamp, WebhookId, Wrapped,
    deceptive_text::{
        TextError, is_invisible, ordered_text_pattern, refuse_control, refuse_reordering,
    },
    named_enum::named_enum,
};

/// A webhook of an API key.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Public id of the webhook, with the prefix `wh_`.
    pub id: WebhookId,
    /// The API key whose events the webhook gets.
    pub api_key_id: ApiKeyId,
    /// The URL of the receiver in canonical form. The URL was checked when the owner set it.
    pub url: String,
    /// Subscribed kinds of events.
    pub events: Vec<EventKind>,
    /// The owner's note about the webhook.
    pub description: Option<Description>,
    /// True if the owner paused the webhook. A paused webhook gets no events, whatever its status is.
    pub paused: bool,
    /// Current signing secret, encrypted.
    pub secret: Wrapped,
    /// Replaced signing secrets that the service still signs with, newest first.
    pub retiring: Vec<RetiringSecret>,
    /// Enabled or disabled. A disabled webhook gets no events.
    pub status: WebhookStatus,
    /// The reason why the service disabled the webhook. `None` if the webhook is enabled, or if an operator disabled
    /// it.
    pub disabled_reason: Option<DisabledReason>,
    /// Time of the first failed attempt since the last success, or since the webhook was enabled. `None` if no attempt
    /// has failed since then.
    pub failing_since: Option<Timestamp>,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the newest successful attempt. `None` before the first success.
    pub last_success_at: Option<Timestamp>,
    /// The newest failed attempt. `None` if no attempt has ever failed.
    pub last_failure: Option<LastFailure>,
}

impl Webhook {
    /// Returns true if the webhook has no URL, because its receiver opens connections to the service.
    pub fn is_relay(&self) -> bool {
        self.url == RELAY_URL
    }

    /// Returns whether events are delivered to the webhook, because the webhook is enabled and not paused.
    pub fn is_active(&self) -> bool {
        self.status == WebhookStatus::Enabled && !self.paused
    }

    /// Records a successful attempt at the time `at`, unless a newer success is known. The newest success ends a series
    /// of failures that began before it.
    pub fn note_success(&mut self, at: Timestamp) {
        self.last_success_at = self.last_success_at.max(Some(at));
        if self.failing_since <= self.last_success_at {
            self.failing_since = None;
        }
    }

    /// Returns the data for deliveries to this webhook. `account_id` is the account of the API key that owns the
    /// webhook.
    pub fn target(&self, account_id: AccountId) -> Target {
        Target {
            webhook_id: self.id,
            account_id,
            url: self.url.clone(),
            secret: self.secret.clone(),
            retiring: self.retiring.clone(),
        }
    }
}

/// The data of a webhook that its deliveries need: the URL, the signing secrets and the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The account of the webhook's key. The dispatcher shares its capacity fairly among accounts.
    pub account_id: AccountId,
    /// The URL of the receiver in canonical form.
    pub url: String,
    /// Current signing secret, encrypted.
    pub secret: Wrapped,
    /// Replaced signing secrets that the service still signs with, newest first.
    pub retiring: Vec<RetiringSecret>,
}

impl Target {
    /// Returns true if the webhook has no URL, because its receiver opens connections to the service.
    pub fn is_relay(&self) -> bool {
        self.url == RELAY_URL
    }
}

/// The URL of relays: webhooks whose receivers open connections to the service.
pub const RELAY_URL: &str = "relay:";

/// A replaced signing secret. For some time, requests are signed with both the replaced and the new secret, so
/// receivers have time to switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiringSecret {
    /// The signing secret, encrypted.
    pub secret: Wrapped,
    /// End of the time in which the service signs with the secret, exclusive.
    pub until: Timestamp,
}

named_enum! {
    /// Whether a webhook gets events.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum WebhookStatus {
        /// The webhook gets no events. Its deliveries wait until it is enabled.
        Disabled = "disabled",
        /// Events are delivered to the webhook.
        Enabled = "enabled",
    }
}

/// The newest failed attempt to deliver an event to a webhook.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
pub struct LastFailure {
    /// Time at which the attempt ended.
    pub at: Timestamp,
    /// Class of the failure, as [`AttemptFailure::as_str`](crate::AttemptFailure::as_str) names it.
    #[schemars(
        description = "What went wrong, as a class: such as `dns`, `connect`, `timeout` or `http_status`."
    )]
    pub error: String,
    /// The reason of the failure; `null` if the class is the whole reason.
    pub error_detail: Option<String>,
}

named_enum! {
    /// The reason why the service disabled a webhook.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DisabledReason {
        /// All attempts failed for longer than the allowed time.
        Failing = "failing",
        /// The receiver responded with status 410 (Gone).
        Gone = "gone",
    }
}

/// A note of 1 to 200 characters without control characters. A new note also has no character that changes the
/// direction of text. Escape it before display, because the owner chose the text.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend(
    "minLength" = 1,
    "maxLength" = 200,
    "pattern" = ordered_text_pattern()
))]
pub struct Description(String);

impl Description {
    /// Parses a new description. Makes the checks of [`parse`](Self::parse), and refuses characters that change the
    /// direction of text or separate lines. Returns `None` for an empty text.
    pub fn parse_new(text: &str) -> Result<Option<Self>, TextError> {
        let description = Self::parse(text)?;
        refuse_reordering(text)?;
        Ok(description)
    }

    /// Parses a stored description, which can be older than the rules of [`parse_new`](Self::parse_new). Refuses more
    /// than 200 characters, and control characters. Returns `None` for an empty text.
    pub fn parse(text: &str) -> Result<Option<Self>, TextError> {
        if text.chars().count() > 200 {
            return Err(TextError::Length("at most 200"));
        }
        refuse_control(text)?;
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// Returns a regular expression for a JSON schema. It matches a new description or an empty text.
    pub fn pattern() -> String {
        ordered_text_pattern()
    }

    /// Returns the description as text, not escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if the description consists of spaces and invisible characters.
    pub fn is_blank(&self) -> bool {
        self.0.chars().all(|character| character == ' ' || is_invisible(character))
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_characters_and_an_empty_text_is_no_description() {
        assert!(Description::parse(&"ü".repeat(200)).unwrap().is_some());
        let fault = TextError::Length("at most 200");
        assert_eq!(Description::parse(&"ü".repeat(201)), Err(fault));
        assert_eq!(Description::parse("a\0b"), Err(TextError::ControlCharacter));
        assert_eq!(Description::parse(""), Ok(None));
    }

    #[test]
    fn a_description_of_spaces_and_invisible_characters_is_blank() {
        for (text, is_blank) in [("  ", true), ("\u{200b}\u{3164} ", true), (" a", false)] {
            assert_eq!(Description::parse(text).unwrap().unwrap().is_blank(), is_blank, "{text:?}");
        }
    }

    #[test]
    fn a_new_description_cannot_change_the_direction_of_text_and_a_stored_one_can() {
        for character in ['\u{202e}', '\u{2066}', '\u{200f}', '\u{2029}'] {
            let text = format!("orders{character}");
            let fault = TextError::Reordering(character);
            assert_eq!(Description::parse_new(&text), Err(fault), "{character:?}");
            assert!(Description::parse(&text).unwrap().is_some(), "{character:?}");
        }
        assert!(Description::parse_new("👩\u{200d}👧 orders").unwrap().is_some());
        assert_eq!(Description::parse_new(""), Ok(None));
    }
}
