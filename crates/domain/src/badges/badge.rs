//! Badges issued by the service, and their positions in the public lists of revoked badges.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, AssessmentId, BadgeId, Jurisdiction, Timestamp, named_enum::named_enum};

/// An issued badge: a signed credential about an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// Public id of the badge, with the prefix `bdg_`.
    pub id: BadgeId,
    /// The API key described by the badge.
    pub api_key_id: ApiKeyId,
    /// The [assessment](crate::Assessment) (measured scores of the key) on which the badge is based.
    pub assessment_id: AssessmentId,
    /// The subject of the credential: a URN of the API key, or its DID if the owner of the key requested so.
    pub subject: String,
    /// The jurisdiction whose compliance circuit (set of checks) the key passed, and the version of the circuits file.
    /// `None` if the request named no jurisdiction.
    pub compliance: Option<(Jurisdiction, u32)>,
    /// Position of the badge in the public lists of revoked badges.
    pub position: StatusPosition,
    /// Start of the badge's validity.
    pub issued_at: Timestamp,
    /// End of the badge's validity, exclusive.
    pub expires_at: Timestamp,
    /// The revocation; `None` if the badge was not revoked.
    pub revocation: Option<Revocation>,
}

/// The permanent revocation of a badge by an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// Time of the revocation.
    pub at: Timestamp,
    /// The operator who revoked the badge.
    pub by: String,
    /// Reason for the revocation, in the operator's words.
    pub reason: String,
}

named_enum! {
    /// The status of a badge at some time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum BadgeStatus {
        /// The validity of the badge has ended.
        Expired = "expired",
        /// The badge was revoked.
        Revoked = "revoked",
        /// The badge is within its validity and was not revoked.
        Valid = "valid",
    }
}

impl Badge {
    /// Returns the status of the badge at `now`. A revoked badge stays `Revoked` after the end of its validity.
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

/// Position of a badge in the public status lists: the number of a list, and the index of a bit in that list. A set bit
/// marks a revoked badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatusPosition(u64);

impl StatusPosition {
    /// Number of badges in one status list: the minimum that Bitstring Status List v1.0 allows. A verifier fetches a
    /// whole list, which hides the badge that it checks among many others.
    pub const LIST_LEN: u64 = 131_072;

    /// Creates the position of the badge with this number. All badges are numbered from 0.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number of the badge among all badges, counted from 0.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the number of the status list that contains the badge, counted from 1.
    pub const fn list(self) -> u64 {
        self.0 / Self::LIST_LEN + 1
    }

    /// Returns the index of the badge's bit in its status list, counted from 0.
    pub const fn index(self) -> u64 {
        self.0 % Self::LIST_LEN
    }

    /// Returns the first position of the status list with this number, counted from 1. Returns `None` for 0, and if the
    /// position does not fit in 64 bits.
    pub fn first_of(list: u64) -> Option<Self> {
        list.checked_sub(1)?.checked_mul(Self::LIST_LEN).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_badge_has_its_own_bit() {
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
    fn a_badge_is_valid_until_it_expires_or_is_revoked() {
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
