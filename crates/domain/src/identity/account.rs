//! Accounts and sessions. An account owns identities (API keys); a session authenticates the requests of one account.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AccountId, InviteId, RequestSource, Timestamp, TokenHash,
    deceptive_text::{self, TextError},
};

/// An account, which owns API keys. Created together with its first key.
#[derive(Debug, Clone)]
pub struct Account {
    /// Public id of the account, with the prefix `acct_`. A login needs this id and the login secret.
    pub id: AccountId,
    /// Hashes of the account's secrets. Each secret itself is shown only once, when it is created or replaced.
    pub secrets: AccountSecrets,
    /// Time at which the account was created.
    pub created_at: Timestamp,
}

/// The hashes of an account's login secret and recovery code. Both secrets are replaced together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountSecrets {
    /// Hash of the login secret, which opens sessions.
    pub login_secret: TokenHash,
    /// Hash of the recovery code, which replaces a lost login secret.
    pub recovery_code: TokenHash,
}

/// A login session. Only the hash of its token is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Hash of the bearer token. Identifies the session.
    pub token: TokenHash,
    /// The account whose requests the session authenticates.
    pub account_id: AccountId,
    /// End of the session's validity, exclusive.
    pub expires_at: Timestamp,
}

impl Session {
    /// Returns true if the session has not expired at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// A session, as shown to the owner of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDetails {
    /// The session.
    pub session: Session,
    /// Time of the login.
    pub started_at: Timestamp,
    /// Start of the hour of the last known use. `None` if no use was recorded.
    pub last_used_at: Option<Timestamp>,
    /// The client that logged in.
    pub source: RequestSource,
}

/// A display name of 1 to 100 characters without control characters. A new name also has a space or a visible
/// character, and no character that changes the direction of text. Escape it before display, because the owner chose
/// the text.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(transparent)]
#[schemars(extend(
    "minLength" = 1,
    "maxLength" = 100,
    "pattern" = deceptive_text::visible_text_pattern()
))]
pub struct Label(String);

impl Label {
    /// Parses a new label. Makes the checks of [`parse`](Self::parse), and refuses a label that could deceive other
    /// users: one of only invisible characters, or with a character that changes the direction of text or separates
    /// lines.
    pub fn parse_new(text: &str) -> Result<Self, TextError> {
        let label = Self::parse(text)?;
        deceptive_text::refuse_reordering(text)?;
        if text.chars().all(deceptive_text::is_invisible) {
            return Err(TextError::NothingVisible);
        }
        Ok(label)
    }

    /// Parses a stored label, which can be older than the rules of [`parse_new`](Self::parse_new). Accepts any text of
    /// valid length without control characters.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        if !(1..=100).contains(&text.chars().count()) {
            return Err(TextError::Length("1 to 100"));
        }
        deceptive_text::refuse_control(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Returns the label as text, not escaped.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An invite to open accounts. It works until it is used up, expires or is revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// Public id of the invite, used by operators.
    pub id: InviteId,
    /// Hash of the invite's secret. The secret itself is shown only once, when the invite is created.
    pub secret: TokenHash,
    /// A note of the operator. `None` if the operator wrote no note.
    pub note: Option<String>,
    /// Maximum number of accounts to open with the invite.
    pub uses: u32,
    /// Number of accounts opened so far with the invite.
    pub used: u32,
    /// Time at which the invite was created.
    pub created_at: Timestamp,
    /// End of the invite's validity, exclusive.
    pub expires_at: Timestamp,
    /// Time of revocation; `None` if the invite was not revoked.
    pub revoked_at: Option<Timestamp>,
}

/// The state of an invite at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InviteStatus {
    /// The invite can be used to open an account.
    Active,
    /// The invite has expired.
    Expired,
    /// An operator revoked the invite.
    Revoked,
    /// The maximum number of accounts was opened with the invite.
    UsedUp,
}

impl Invite {
    /// Returns the state of the invite at `now`.
    pub fn status(&self, now: Timestamp) -> InviteStatus {
        if self.revoked_at.is_some() {
            InviteStatus::Revoked
        } else if self.used >= self.uses {
            InviteStatus::UsedUp
        } else if now >= self.expires_at {
            InviteStatus::Expired
        } else {
            InviteStatus::Active
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(Label::parse(&"ü".repeat(100)).is_ok());
        let fault = TextError::Length("1 to 100");
        assert_eq!(Label::parse(&"ü".repeat(101)), Err(fault));
        assert_eq!(Label::parse(""), Err(fault));
        assert_eq!(fault.to_string(), "must have 1 to 100 characters");
        assert_eq!(Label::parse("a\nb"), Err(TextError::ControlCharacter));
    }

    #[test]
    fn a_new_label_has_a_visible_character_and_a_stored_one_need_not() {
        let invisible = "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{3164}\u{115f}\u{1160}\u{ffa0}\u{2800}\u{ad}\
            \u{a0}\u{2003}\u{3000}\u{fe0f}\u{301}\u{20e3}";
        assert!(Label::parse_new(" ").is_ok(), "spaces are a label");
        let each = invisible.chars().map(String::from);
        for text in each.chain([invisible.to_owned()]) {
            assert_eq!(Label::parse_new(&text), Err(TextError::NothingVisible), "{text:?}");
            assert!(Label::parse(&text).is_ok(), "{text:?}");
            assert!(Label::parse_new(&format!("{text}a")).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn a_new_label_cannot_change_the_direction_of_text_and_a_stored_one_can() {
        let ranges = ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}', '\u{2028}'..='\u{2029}'];
        let marks = ['\u{200e}', '\u{200f}', '\u{61c}'];
        for character in ranges.into_iter().flatten().chain(marks) {
            let text = format!("Bob{character}moc.elpmaxe");
            let fault = TextError::Reordering(character);
            assert_eq!(Label::parse_new(&text), Err(fault), "{character:?}");
            assert!(Label::parse(&text).is_ok(), "{character:?}");
        }
        assert_eq!(
            TextError::Reordering('\u{61c}').to_string(),
            "must not contain characters that change the direction of text or separate lines; remove U+061C"
        );
    }

    #[test]
    fn a_new_label_may_have_any_script_and_emojis() {
        for text in [
            "Zoë O'Brien",
            "דנה כהן",
            "می\u{200c}خواهم",
            "ශ්\u{200d}රී",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
            "e\u{301}",
            "สี",
            "-",
        ] {
            assert_eq!(Label::parse_new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn an_invite_is_active_until_it_is_used_up_expires_or_is_revoked() {
        let at = Timestamp::from_millis;
        let invite = Invite {
            id: InviteId::new(at(1), [1; 10]),
            secret: TokenHash([1; 32]),
            note: None,
            uses: 2,
            used: 1,
            created_at: at(1),
            expires_at: at(10),
            revoked_at: None,
        };
        assert_eq!(invite.status(at(9)), InviteStatus::Active);
        assert_eq!(invite.status(at(10)), InviteStatus::Expired);
        let used_up = Invite { used: 2, ..invite.clone() };
        assert_eq!(used_up.status(at(9)), InviteStatus::UsedUp);
        let revoked = Invite { revoked_at: Some(at(5)), ..used_up };
        assert_eq!(revoked.status(at(9)), InviteStatus::Revoked);
    }
}
