//! Badges: what a key was granted on an assessment, and where its status stands in the public lists.

use serde::Serialize;

use crate::{ApiKeyId, AssessmentId, BadgeId, Jurisdiction, Timestamp};

/// A badge that was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// Its id.
    pub id: BadgeId,
    /// The key that it was issued to.
    pub api_key_id: ApiKeyId,
    /// What it was issued on.
    pub assessment_id: AssessmentId,
    /// Whom it names: a URN of the key, or its DID where its holder wished so.
    pub subject: String,
    /// Whose circuit held as well, and of which version.
    pub compliance: Option<(Jurisdiction, u32)>,
    /// Where its status is.
    pub position: StatusPosition,
    /// Since when it holds.
    pub issued_at: Timestamp,
    /// From when on it does not.
    pub expires_at: Timestamp,
    /// Who took it back, when and why.
    pub revocation: Option<Revocation>,
}

/// How a badge was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// Whether a badge holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BadgeStatus {
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
    /// It holds.
    Valid,
}

impl Badge {
    /// Whether it holds at `now`. What was taken back stays so when its time is over.
    pub fn status(&self, now: Timestamp) -> BadgeStatus {
        if self.revocation.is_some() {
            BadgeStatus::Revoked
        } else if self.expires_at <= now {
            BadgeStatus::Expired
        } else {
            BadgeStatus::Valid
        }
    }
}

/// A badge's place among all: which status list, and which bit of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatusPosition(u64);

impl StatusPosition {
    /// How many badges share a list: the least that Bitstring Status List allows, so that a bit tells little of whom
    /// somebody asks for.
    pub const LIST_LEN: u64 = 131_072;

    /// The so-manieth of all badges, counted from 0.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Counted from 0.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Which list, counted from 1.
    pub const fn list(self) -> u64 {
        self.0 / Self::LIST_LEN + 1
    }

    /// Which bit of it, counted from 0.
    pub const fn index(self) -> u64 {
        self.0 % Self::LIST_LEN
    }

    /// The first of a list; `None` where there cannot be such a list.
    pub const fn first_of(list: u64) -> Option<Self> {
        match list.checked_sub(1) {
            Some(before) => match before.checked_mul(Self::LIST_LEN) {
                Some(number) => Some(Self(number)),
                None => None,
            },
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_badge_has_a_bit_of_its_own() {
        for (number, list, index) in
            [(0, 1, 0), (131_071, 1, 131_071), (131_072, 2, 0), (262_145, 3, 1)]
        {
            let position = StatusPosition::new(number);
            assert_eq!((position.list(), position.index()), (list, index));
            let first = StatusPosition::first_of(list).unwrap();
            assert_eq!(first.number() + index, number);
        }
        assert_eq!(StatusPosition::first_of(0), None);
        assert_eq!(StatusPosition::first_of(u64::MAX), None);
    }

    #[test]
    fn a_badge_holds_until_its_time_and_unless_it_is_taken_back() {
        let at = Timestamp::from_millis;
        let mut badge = Badge {
            id: BadgeId::new(at(1), [0; 10]),
            api_key_id: ApiKeyId::new(at(1), [0; 10]),
            assessment_id: AssessmentId::new(at(1), [0; 10]),
            subject: "urn:sealpost:ak".to_owned(),
            compliance: None,
            position: StatusPosition::new(0),
            issued_at: at(1),
            expires_at: at(10),
            revocation: None,
        };
        assert_eq!(badge.status(at(9)), BadgeStatus::Valid);
        assert_eq!(badge.status(at(10)), BadgeStatus::Expired);
        badge.revocation = Some(Revocation { at: at(5), by: String::new(), reason: String::new() });
        assert_eq!(badge.status(at(9)), BadgeStatus::Revoked);
        assert_eq!(badge.status(at(10)), BadgeStatus::Revoked);
    }
}
