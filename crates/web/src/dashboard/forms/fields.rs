//! The fields of a submitted form.

use std::{collections::HashSet, time::Duration};

use actix_web::dev::UrlEncoded;

/// The fields of a submitted form. Extraction from a request fails if a page of another site sent the form, or if
/// [`Form::read`] returns `None`, for example for a form over 16 KiB.
pub(crate) struct Form(pub(super) Vec<(String, String)>);

impl Form {
    /// Reads the fields of a form. Returns `None` if the form is malformed, too long, or not received `within` the
    /// given time. Also returns `None` if a field is repeated, except for check boxes.
    pub(crate) async fn read(
        fields: UrlEncoded<Vec<(String, String)>>,
        within: Duration,
    ) -> Option<Self> {
        let fields = tokio::time::timeout(within, fields.limit(FORM_LEN_MAX)).await;
        let fields = fields.ok()?.ok()?;
        let mut names = HashSet::new();
        let is_unique = |name| CHECK_BOXES.contains(&name) || names.insert(name);
        let is_valid = fields.iter().map(|(name, _)| name.as_str()).all(is_unique);
        is_valid.then_some(Self(fields))
    }

    /// Returns a field without surrounding white space. A missing field is empty.
    pub(crate) fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map_or("", |(_, value)| value.trim())
    }

    /// Returns a field without removing white space, for values such as a password. A missing field is empty.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Returns the values of all fields with this name. A group of check boxes, for example, has one field for each
    /// checked box.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let fields = self.0.iter().filter(|(field, _)| field == name);
        fields.map(|(_, value)| value.trim().to_owned()).collect()
    }

    /// Returns true if a field differs from the value that the page showed, which the form repeats in a hidden field
    /// with the prefix `was_`. Also returns true if the form has no such hidden field.
    pub(crate) fn is_changed(&self, name: &str) -> bool {
        self.all(&format!("was_{name}")) != [self.all(name).join(" ")]
    }
}

/// The groups of check boxes, which have one field for each checked box.
const CHECK_BOXES: [&str; 2] = ["events", "selected"];

const FORM_LEN_MAX: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_changed_if_it_differs_from_the_page() {
        let fields = [
            ("url", "https://a.example"),
            ("was_url", "https://a.example "),
            ("events", "one"),
            ("events", "two"),
            ("was_events", "one two "),
            ("was_listed", ""),
            ("accept", "anyone"),
            ("was_accept", "nobody"),
            ("description", ""),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let form = Form(fields.to_vec());
        for unchanged in ["url", "events", "listed"] {
            assert!(!form.is_changed(unchanged), "{unchanged}");
        }
        for changed in ["accept", "description"] {
            assert!(form.is_changed(changed), "{changed}");
        }
    }
}
