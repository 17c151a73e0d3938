//! Collects the last use of sessions, rounded down to the hour, for the database.
//!
//! A request only sets a flag on its cached session. The periodic eviction of unused cache entries reads this flag, and
//! notes the sessions that were used. A housekeeping thread stores the noted sessions in the database.

use std::collections::HashSet;

use parking_lot::Mutex;
use sealpost_domain::{Timestamp, TokenHash};

/// Sessions that were used recently, and sessions whose use within the current hour is already stored.
#[derive(Default)]
pub(crate) struct SessionUses(Mutex<Uses>);

#[derive(Default)]
struct Uses {
    /// Sessions that were noted since the last call of [`SessionUses::take`].
    noted: HashSet<TokenHash>,
    /// Sessions that [`SessionUses::take`] has already returned within `hour`.
    stored: HashSet<TokenHash>,
    hour: i64,
}

impl SessionUses {
    /// Notes that a session was used recently.
    pub(super) fn note(&self, session: &TokenHash) {
        self.0.lock().noted.insert(*session);
    }

    /// Returns the start of the current hour, and the noted sessions. Returns each session at most once in an hour. The
    /// caller must store the start of the hour as the last use of these sessions.
    pub(super) fn take(&self, now: Timestamp) -> (Timestamp, Vec<TokenHash>) {
        let hour = now.as_millis().saturating_sub(now.as_millis().rem_euclid(HOUR_MS));
        let mut uses = self.0.lock();
        if uses.hour != hour {
            uses.hour = hour;
            uses.stored.clear();
        }
        let mut taken = std::mem::take(&mut uses.noted);
        taken.retain(|session| uses.stored.insert(*session));
        (Timestamp::from_millis(hour), taken.into_iter().collect())
    }
}

const HOUR_MS: i64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_taken_once_an_hour() {
        let uses = SessionUses::default();
        let (one, other) = (TokenHash([1; 32]), TokenHash([2; 32]));
        let taken = |minute: i64, used: &[TokenHash]| {
            for token in used {
                uses.note(token);
            }
            let (hour, tokens) = uses.take(Timestamp::from_millis(minute * 60_000));
            (hour.as_millis() / HOUR_MS, tokens)
        };
        assert_eq!(taken(119, &[one]), (1, vec![one]));
        assert_eq!(taken(119, &[one, other]), (1, vec![other]));
        assert_eq!(taken(120, &[one]), (2, vec![one]), "also at the first use of the hour");
        assert_eq!(taken(121, &[]), (2, vec![]));
    }
}
