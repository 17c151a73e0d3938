//! Finds the known name that is most similar to an unknown name, for suggestions in errors.

/// Returns the candidate with the smallest edit distance to `name`, ignoring case. Returns `None` only if there are no
/// candidates.
pub(crate) fn nearest(name: &str, candidates: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    candidates.iter().copied().min_by_key(|candidate| edit_distance(&name, candidate))
}

/// Returns the candidate of which `name` is probably a misspelling, ignoring case, `_` and `-`. One character may
/// always differ, and at most a third of the candidate's characters. Returns `None` if no candidate is that similar.
pub(crate) fn similar(name: &str, candidates: &[&'static str]) -> Option<&'static str> {
    let bare = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let name = bare(name);
    let distances = candidates.iter().map(|candidate| {
        let known = bare(candidate);
        let tolerated = (known.chars().count() / 3).max(1);
        (edit_distance(&name, &known), tolerated, *candidate)
    });
    let near = distances.filter(|(distance, tolerated, _)| distance <= tolerated);
    near.min_by_key(|(distance, ..)| *distance).map(|(.., candidate)| candidate)
}

/// Returns the Levenshtein distance: the minimum number of characters to insert, remove or replace.
pub(crate) fn edit_distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (symbol, distance) in from.chars().zip(1_usize..) {
        // The values of the distance matrix diagonally above, and to the left of, the current cell.
        let (mut diagonal, mut left) = (distance.saturating_sub(1), distance);
        let mut cells = row.iter_mut();
        if let Some(first) = cells.next() {
            *first = distance;
        }
        for (other, cell) in to.chars().zip(cells) {
            let above = *cell;
            let replaced = diagonal.saturating_add(usize::from(symbol != other));
            *cell = replaced.min(above.saturating_add(1)).min(left.saturating_add(1));
            (diagonal, left) = (above, *cell);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_single_characters() {
        for (from, to, distance) in [
            ("", "", 0),
            ("", "to", 2),
            ("to", "", 2),
            ("dryrun", "dry_run", 1),
            ("mesage", "message", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edit_distance(from, to), distance, "{from} {to}");
        }
    }

    #[test]
    fn only_a_near_member_is_suggested() {
        let members =
            ["webhook_id", "since", "dry_run", "api_key_id", "to", "message", "type", "url"];
        for (name, member) in [
            ("dryrun", Some("dry_run")),
            ("dryRun", Some("dry_run")),
            ("webhookId", Some("webhook_id")),
            ("webhook", Some("webhook_id")),
            ("apiKey", Some("api_key_id")),
            ("mesage", Some("message")),
            ("messages", Some("message")),
            ("too", Some("to")),
            ("URL", Some("url")),
            ("metadata", None),
            ("secret", None),
            ("body", None),
            ("from", None),
            ("key", None),
            ("", None),
        ] {
            assert_eq!(similar(name, &members), member, "{name}");
        }
        assert_eq!(similar("any", &[]), None);
    }

    #[test]
    fn the_nearest_name_is_found() {
        let paths = ["/v1/ping", "/v1/webhooks"];
        assert_eq!(nearest("/V1/pong", &paths), Some("/v1/ping"));
        assert_eq!(nearest("any", &[]), None);
    }
}
