//! Of which webhooks it was written down a moment ago that all is well. A busy receiver succeeds many times a
//! second; its row need not say so each time.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::batch::End;

/// By webhook, when the success ended that is on record. What another node writes meanwhile is met by the next
/// success after [`FRESH_MS`].
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<HashMap<String, i64>>);

/// What a batch has put on record of one webhook.
pub(crate) struct Told {
    webhook_id: String,
    /// When its newest success ended; `None` where there was a failure.
    well_at: Option<i64>,
}

impl Heard {
    /// Those ends that are news: all of a webhook, or nothing of it.
    pub(crate) fn news<'a>(&self, ends: &[&'a End]) -> (Vec<&'a End>, Vec<Told>) {
        let mut newest = HashMap::<&str, Option<i64>>::new();
        for end in ends {
            let well_at = newest.entry(&end.held.id.webhook_id).or_insert(Some(i64::MIN));
            *well_at = well_at.filter(|_| end.failure.is_none()).map(|at| at.max(end.at));
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        newest.retain(|id, well_at| {
            let heard = known.get(*id).zip(well_at.as_ref());
            heard.is_none_or(|(heard, at)| at.saturating_sub(*heard) >= FRESH_MS)
        });
        drop(known);
        let is_news = |end: &&&End| newest.contains_key(&*end.held.id.webhook_id);
        let news = ends.iter().filter(is_news).copied().collect();
        let told =
            newest.into_iter().map(|(id, well_at)| Told { webhook_id: id.to_owned(), well_at });
        (news, told.collect())
    }

    /// Once it is on record, and not before.
    pub(crate) fn remember(&self, told: Vec<Told>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len().saturating_add(told.len()) > KNOWN_MAX {
            known.clear();
        }
        for Told { webhook_id, well_at } in told {
            match well_at {
                Some(at) => known.insert(webhook_id, at),
                None => known.remove(&webhook_id),
            };
        }
    }
}

/// How old the newest success on record may be.
const FRESH_MS: i64 = 1_000;
const KNOWN_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{Held, RowId};

    fn end(webhook: &str, at: i64, failure: Option<&'static str>) -> End {
        let id = RowId { webhook_id: webhook.to_owned(), envelope_id: "env".to_owned() };
        End {
            held: Held { id, lease: 1 },
            attempts: 1,
            at,
            duration_ms: 1,
            outcome: "succeeded",
            failure,
            status_code: None,
            excerpt: None,
            due_at: None,
            is_gone: false,
        }
    }

    /// How many of these are news; they are put on record.
    fn hear(heard: &Heard, ends: &[End]) -> usize {
        let (news, told) = heard.news(&ends.iter().collect::<Vec<_>>());
        heard.remember(told);
        news.len()
    }

    #[test]
    fn a_success_is_news_once_a_second() {
        let heard = Heard::default();
        assert_eq!(hear(&heard, &[end("a", 0, None), end("a", 10, None), end("b", 500, None)]), 3);
        assert_eq!(hear(&heard, &[end("a", 1009, None), end("b", 1009, None)]), 0);
        assert_eq!(hear(&heard, &[end("a", 1010, None), end("b", 1010, None)]), 1);
    }

    #[test]
    fn a_failure_is_always_news_and_so_is_the_success_after_it() {
        let heard = Heard::default();
        hear(&heard, &[end("a", 0, None)]);
        assert_eq!(hear(&heard, &[end("a", 1, None), end("a", 2, Some("dns"))]), 2);
        assert_eq!(hear(&heard, &[end("a", 3, Some("dns"))]), 1);
        assert_eq!(hear(&heard, &[end("a", 4, None)]), 1);
        assert_eq!(hear(&heard, &[end("a", 5, None)]), 0);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let heard = Heard::default();
        for n in 0..=KNOWN_MAX {
            hear(&heard, &[end(&n.to_string(), 0, None)]);
        }
        assert_eq!(heard.0.lock().unwrap().len(), 1);
    }
}
