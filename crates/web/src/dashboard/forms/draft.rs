//! The content of a form on a page: empty, or as the user typed it before the form was rejected, together with the
//! reason of the rejection.

use super::{fields::Form, rejection::Rejection};

/// The content of a form on a page.
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

#[cfg(test)]
mod tests {
    use super::*;

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
