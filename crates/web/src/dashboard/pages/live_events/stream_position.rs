//! The position of a live stream in its event log. Decides which attempts the stream sends.

use std::collections::BTreeSet;

use sealpost_domain::AttemptNumber;

/// The attempts of a log that the browser already shows. The number of the newest attempt is not enough: several nodes
/// record attempts at the same time, so an attempt can appear in the log after an attempt with a greater number.
pub(super) struct StreamPosition {
    /// The newest attempt that the browser has.
    newest: AttemptNumber,
    /// The number at which the previous poll stopped. Before the first poll, the newest attempt that the browser shows.
    /// The stream sends only attempts with a greater number.
    oldest: AttemptNumber,
    /// The attempts that the previous poll read.
    read: BTreeSet<AttemptNumber>,
}

impl StreamPosition {
    /// Creates the position of a stream that begins after `newest`, the newest attempt that the browser shows.
    pub(super) fn after(newest: AttemptNumber) -> Self {
        Self { newest, oldest: newest, read: BTreeSet::new() }
    }

    /// Returns the newest attempt that the browser has.
    pub(super) fn newest(&self) -> AttemptNumber {
        self.newest
    }

    /// Updates the position after a poll that has read the attempts `read`. Returns those of them that are new for the
    /// browser. `end` is the number at which the poll stopped; `None` if the poll read the whole log.
    ///
    /// A poll reads one page of attempts. After the deletion of a webhook, the page has older attempts instead of the
    /// attempts of this webhook. Attempts up to the `end` of the previous poll are therefore not new.
    pub(super) fn advance(
        &mut self,
        read: BTreeSet<AttemptNumber>,
        end: Option<AttemptNumber>,
    ) -> BTreeSet<AttemptNumber> {
        let is_new = |number: &AttemptNumber| *number > self.oldest && !self.read.contains(number);
        let new = read.iter().copied().filter(is_new).collect();
        self.newest = read.last().copied().unwrap_or(self.newest).max(self.newest);
        self.oldest = end.unwrap_or(AttemptNumber(0));
        self.read = read;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<const N: usize>(numbers: [i64; N]) -> BTreeSet<AttemptNumber> {
        numbers.map(AttemptNumber).into()
    }

    #[test]
    fn a_stream_sends_only_attempts_after_the_newest_of_the_page() {
        let mut position = StreamPosition::after(AttemptNumber(7));
        assert_eq!(position.advance(numbers([5, 6, 7]), None), numbers([]));
        assert_eq!(position.advance(numbers([5, 6, 7, 9]), None), numbers([9]));
        assert_eq!(position.newest(), AttemptNumber(9));
        assert_eq!(position.advance(numbers([5, 6, 7, 9]), None), numbers([]));
        let mut position = StreamPosition::after(AttemptNumber(7));
        assert_eq!(position.advance(numbers([7, 8, 9]), None), numbers([8, 9]));
    }

    #[test]
    fn an_attempt_that_appears_after_a_later_one_is_sent() {
        let mut position = StreamPosition::after(AttemptNumber(7));
        assert_eq!(position.advance(numbers([6, 7]), Some(AttemptNumber(6))), numbers([]));
        let late = numbers([6, 7, 8, 10]);
        assert_eq!(position.advance(late, Some(AttemptNumber(6))), numbers([8, 10]));
        let later = numbers([7, 8, 9, 10]);
        assert_eq!(position.advance(later, Some(AttemptNumber(7))), numbers([9]));
        assert_eq!(position.newest(), AttemptNumber(10));
    }

    #[test]
    fn older_attempts_that_the_deletion_of_a_webhook_uncovers_are_not_sent() {
        let mut position = StreamPosition::after(AttemptNumber(7));
        assert_eq!(position.advance(numbers([6, 7]), Some(AttemptNumber(6))), numbers([]));
        assert_eq!(position.advance(numbers([3, 6]), Some(AttemptNumber(3))), numbers([]));
        assert_eq!(position.advance(numbers([1, 3, 8]), None), numbers([8]));
        assert_eq!(position.newest(), AttemptNumber(8));
    }
}
