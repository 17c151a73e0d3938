//! The fields of a form: as submitted, and as its page shows them again after a rejection.

use std::{collections::HashSet, time::Duration};

use actix_web::dev::UrlEncoded;

use crate::html::rejection::Rejection;

/// The fields of a submitted form. Extraction from a request fails if a page of another site sent the form, or if
/// [`Form::read`] returns `None`, for example for a form over 16 KiB.
pub(crate) struct Form(Vec<(String, String)>);

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

/// The content of a form on a page: empty, or as the user typed it before the form was rejected, together with the
/// reason of the rejection.
#[derive(Clone, Copy, Default)]
pub(crate) struct Draft<'a> {
    sent: Option<(&'a Form, &'a Rejection)>,
}

impl<'a> Draft<'a> {
    /// Returns the content of a rejected form, so that the user can correct it.
    pub(crate) fn rejected(form: &'a Form, rejection: &'a Rejection) -> Self {
        Self { sent: Some((form, rejection)) }
    }

    /// Returns the reason of the rejection. `None` for an empty form.
    pub(crate) fn rejection(&self) -> Option<&'a Rejection> {
        self.sent.map(|(_, rejection)| rejection)
    }

    /// Returns the text that the user typed into a field.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.sent.map_or("", |(form, _)| form.text(name))
    }

    /// Returns the text that the user typed into a field, or `default` in an empty form.
    pub(crate) fn text_or<'b>(&self, name: &str, default: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.sent.map_or(default, |(form, _)| form.text(name))
    }

    /// Returns true if the box with this value is checked. `default` is the state of the box in an empty form.
    pub(crate) fn is_checked(&self, name: &str, value: &str, default: bool) -> bool {
        self.sent.map_or(default, |(form, _)| form.all(name).iter().any(|sent| sent == value))
    }

    /// Returns true if the field with this id caused the rejection.
    pub(crate) fn is_at(&self, field: &str) -> bool {
        self.rejection().is_some_and(|rejection| rejection.field.as_deref() == Some(field))
    }

    /// Returns the HTML attributes `aria-invalid` and `aria-describedby` of a field. `hint` is the id of the text that
    /// explains the field, or empty. Templates insert the attributes unescaped, because they contain no user text.
    pub(crate) fn marks(&self, field: &'static str, hint: &'static str) -> String {
        match (self.is_at(field), hint) {
            (true, _) => {
                format!(" aria-invalid=\"true\" aria-describedby=\"{field}-error {hint}\"")
                    .replace(" \"", "\"")
            }
            (false, "") => String::new(),
            (false, hint) => format!(" aria-describedby=\"{hint}\""),
        }
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

    #[test]
    fn only_the_rejected_field_is_marked() {
        let form = Form(vec![("label".to_owned(), "<Alice>".to_owned())]);
        let rejection = Rejection::field("label", "The label is taken.");
        let draft = Draft::rejected(&form, &rejection);
        assert_eq!(draft.text("label"), "<Alice>");
        let invalid = " aria-invalid=\"true\" aria-describedby=";
        assert_eq!(draft.marks("label", ""), format!("{invalid}\"label-error\""));
        assert_eq!(
            draft.marks("label", "label-hint"),
            format!("{invalid}\"label-error label-hint\"")
        );
        assert_eq!(draft.marks("handle", ""), "");
        assert_eq!(draft.marks("handle", "handle-hint"), " aria-describedby=\"handle-hint\"");
        assert_eq!(Draft::default().marks("label", ""), "");
    }
}
