//! The port for used forms of the dashboard.

use crate::ports::error::StoreError;
use crate::{Timestamp, TokenHash};

/// Records which forms of the dashboard were sent, so that a form acts once. A form is identified by the hash of its
/// id.
pub trait FormRepo {
    /// Records the use of a form. Returns false if the form was used before. Of concurrent uses, one returns true.
    fn use_form(&mut self, form: &TokenHash, now: Timestamp) -> Result<bool, StoreError>;

    /// Stores the path of the page that shows the result of a used form.
    fn set_form_result(&mut self, form: &TokenHash, path: &str) -> Result<(), StoreError>;

    /// Returns the path of the page that shows the result of a used form. `None` if no path is stored.
    fn form_result(&mut self, form: &TokenHash) -> Result<Option<String>, StoreError>;

    /// Deletes the use of a form, so that the form can be sent again.
    fn release_form(&mut self, form: &TokenHash) -> Result<(), StoreError>;
}
