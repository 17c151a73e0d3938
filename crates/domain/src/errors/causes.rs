//! The text of an error together with its causes.

use std::error::Error;

/// Returns the texts of an error and all its causes in one line, separated by `: `.
pub fn with_causes(error: &dyn Error) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(&error.to_string().trim().replace(['\n', '\t'], " "));
        next = error.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Caused(&'static str, #[source] Option<Box<Caused>>);

    #[test]
    fn an_error_and_its_causes_are_one_line() {
        let root = Caused("no\tspace\nleft ", None);
        let error = Caused("not stored", Some(Caused("the disk failed", Some(root.into())).into()));
        assert_eq!(with_causes(&error), "not stored: the disk failed: no space left");
    }
}
