//! The cursor of a list of activity entries: the position after a page. Callers cannot interpret its text form.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sealpost_domain::ActivityId;

use crate::webhooks::cursor::CursorFault;

/// The id of the last entry of a page. The next page begins after this entry. The text form is base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityCursor(pub(super) ActivityId);

impl fmt::Display for ActivityCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl FromStr for ActivityCursor {
    type Err = CursorFault;

    fn from_str(text: &str) -> Result<Self, CursorFault> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_malformed| CursorFault)?;
        let bytes = bytes.try_into().map_err(|_length| CursorFault)?;
        Ok(Self(ActivityId::from_bytes(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    #[test]
    fn only_the_text_of_a_cursor_is_parsed() {
        let id = ActivityId::new(Timestamp::from_millis(1_790_000_000_000), [7; 10]);
        let text = ActivityCursor(id).to_string();
        assert_eq!(text.parse(), Ok(ActivityCursor(id)));
        for wrong in [
            "",
            "%",
            text.get(1..).unwrap(),
            &format!("{text}A"),
            &format!("{text}="),
            &id.to_string(),
        ] {
            assert_eq!(wrong.parse::<ActivityCursor>(), Err(CursorFault), "{wrong}");
        }
    }
}
