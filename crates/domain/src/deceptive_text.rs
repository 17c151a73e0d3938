//! Detects characters that can deceive the readers of a short text, such as the label of a key: one user chooses the
//! text, and other users read it.

use std::ops::RangeInclusive;

/// The reason why a text is not a valid label or description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text contains a control character.
    #[error("must not contain control characters")]
    ControlCharacter,
    /// The text is too short or too long. Contains the valid numbers of characters, such as `1 to 100`.
    #[error("must have {0} characters")]
    Length(&'static str),
    /// All characters of the text are invisible. A space is treated as visible.
    #[error("must have a visible character; add a letter or a digit")]
    NothingVisible,
    /// The text contains this character, which changes the direction of text or separates lines.
    #[error(
        "must not contain characters that change the direction of text or separate lines; remove U+{:04X}",
        u32::from(*_0)
    )]
    Reordering(char),
}

/// Fails if the text contains a control character.
pub(crate) fn refuse_control(text: &str) -> Result<(), TextError> {
    if text.chars().any(char::is_control) { Err(TextError::ControlCharacter) } else { Ok(()) }
}

/// Fails if a character changes the direction of the text around it, such as U+202E, or starts a new line.
pub(crate) fn refuse_reordering(text: &str) -> Result<(), TextError> {
    let found = text.chars().find(|character| is_in(&REORDERING, *character));
    found.map_or(Ok(()), |character| Err(TextError::Reordering(character)))
}

/// Checks a text that can have several lines, such as an operator's reason. Refuses a text that could deceive its
/// readers:
///
/// - with a control character other than tab and line break
/// - with a character that changes the direction of text
/// - without a visible character
pub fn refuse_deceptive(text: &str) -> Result<(), TextError> {
    let is_refused = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    if text.chars().any(is_refused) {
        return Err(TextError::ControlCharacter);
    }
    refuse_reordering(text)?;
    if text.chars().all(|c| c.is_whitespace() || is_invisible(c)) {
        return Err(TextError::NothingVisible);
    }
    Ok(())
}

/// Returns true if the character alone is not visible: white space except the space, a format character, a filler, a
/// variation selector or a combining mark. A text may contain such characters beside visible ones, such as a zero-width
/// joiner (U+200D) in an emoji or a combining mark after its letter.
pub(crate) fn is_invisible(character: char) -> bool {
    is_in(&INVISIBLE, character) || is_in(&HIGH_INVISIBLE, character)
}

/// Returns a regular expression for a JSON schema. It matches a text without control characters, and without characters
/// that change the direction of text or separate lines.
pub(crate) fn ordered_text_pattern() -> String {
    let refused = refused_class();
    format!("^[^{refused}]*$")
}

/// Returns a regular expression for a JSON schema. It matches a text that [`ordered_text_pattern`] matches and that has
/// at least one character outside [`INVISIBLE`].
pub(crate) fn visible_text_pattern() -> String {
    let (refused, invisible) = (refused_class(), class(&INVISIBLE));
    format!("^[^{refused}]*[^{refused}{invisible}][^{refused}]*$")
}

fn refused_class() -> String {
    format!("\\u0000-\\u001f\\u007f-\\u009f{}", class(&REORDERING))
}

/// Writes ranges as the content of a character class in a regular expression (ECMA-262).
fn class(ranges: &[RangeInclusive<char>]) -> String {
    let escaped = |it: &RangeInclusive<char>| {
        format!("\\u{:04x}-\\u{:04x}", u32::from(*it.start()), u32::from(*it.end()))
    };
    ranges.iter().map(escaped).collect::<Vec<_>>().concat()
}

fn is_in(ranges: &[RangeInclusive<char>], character: char) -> bool {
    ranges.iter().any(|range| range.contains(&character))
}

/// The characters with the property `Bidi_Control` of Unicode, and the two separators of lines and paragraphs.
const REORDERING: [RangeInclusive<char>; 5] = [
    // The Arabic letter mark.
    '\u{61c}'..='\u{61c}',
    // The left-to-right and the right-to-left mark.
    '\u{200e}'..='\u{200f}',
    // The line and the paragraph separator.
    '\u{2028}'..='\u{2029}',
    // Embeddings and overrides.
    '\u{202a}'..='\u{202e}',
    // Isolates.
    '\u{2066}'..='\u{2069}',
];

/// Characters up to U+FFFF that are not visible alone: white space, the characters with the Unicode property
/// `Default_Ignorable_Code_Point`, and others.
///
/// The space is missing, because a label may consist of spaces. Combining marks of a single script, such as vowel
/// signs, are missing too: browsers show such a mark alone on a dotted circle.
const INVISIBLE: [RangeInclusive<char>; 22] = [
    // The no-break space.
    '\u{a0}'..='\u{a0}',
    // The soft hyphen.
    '\u{ad}'..='\u{ad}',
    // Combining marks, with the combining grapheme joiner.
    '\u{300}'..='\u{36f}',
    // The Arabic letter mark.
    '\u{61c}'..='\u{61c}',
    // Fillers of Hangul.
    '\u{115f}'..='\u{1160}',
    // The space of Ogham.
    '\u{1680}'..='\u{1680}',
    // Inherent vowels of Khmer.
    '\u{17b4}'..='\u{17b5}',
    // Variation selectors and the vowel separator of Mongolian.
    '\u{180b}'..='\u{180f}',
    // Combining marks, extended.
    '\u{1ab0}'..='\u{1aff}',
    // Combining marks, supplement.
    '\u{1dc0}'..='\u{1dff}',
    // Spaces, zero-width joiners and direction marks.
    '\u{2000}'..='\u{200f}',
    // Separators, embeddings and overrides, and the narrow no-break space.
    '\u{2028}'..='\u{202f}',
    // A space of mathematics, the word joiner, invisible operators, isolates and deprecated format characters.
    '\u{205f}'..='\u{206f}',
    // Combining marks for symbols.
    '\u{20d0}'..='\u{20ff}',
    // The Braille pattern without dots.
    '\u{2800}'..='\u{2800}',
    // The ideographic space.
    '\u{3000}'..='\u{3000}',
    // A filler of Hangul.
    '\u{3164}'..='\u{3164}',
    // Variation selectors.
    '\u{fe00}'..='\u{fe0f}',
    // Combining half marks.
    '\u{fe20}'..='\u{fe2f}',
    // The byte order mark, also a zero-width space.
    '\u{feff}'..='\u{feff}',
    // A filler of Hangul, of half width.
    '\u{ffa0}'..='\u{ffa0}',
    // Annotations, and unassigned characters before them.
    '\u{fff0}'..='\u{fffb}',
];

/// Characters above U+FFFF that are not visible alone. The patterns for JSON schemas accept these characters: the
/// patterns have only escapes of four digits, which all programs support but which end at U+FFFF.
const HIGH_INVISIBLE: [RangeInclusive<char>; 3] = [
    // Format characters of shorthand.
    '\u{1bca0}'..='\u{1bca3}',
    // Format characters of musical notation.
    '\u{1d173}'..='\u{1d17a}',
    // Tags and variation selectors.
    '\u{e0000}'..='\u{e0fff}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reordering_character_is_invisible() {
        let reordering = REORDERING.iter().cloned().flatten();
        assert!(reordering.clone().all(is_invisible));
        assert_eq!(reordering.count(), 14);
    }

    #[test]
    fn letters_signs_and_emojis_are_visible_and_reorder_nothing() {
        for character in "aZ0ßäжשعالสี漢かㄱ한-_.!€№🙂🏴\u{fffd}".chars() {
            assert_eq!(refuse_reordering(&character.to_string()), Ok(()), "{character:?}");
        }
        for character in "aZ0ßäжשعال漢かㄱ한-_.!€№🙂🏴\u{fffd} ".chars() {
            assert!(!is_invisible(character), "{character:?}");
        }
    }

    #[test]
    fn a_text_of_several_lines_is_visible_and_reorders_nothing() {
        for text in ["x", "a\tb\r\nc", " x ", "שلا", "🙂"] {
            assert_eq!(refuse_deceptive(text), Ok(()), "{text:?}");
        }
        for text in ["", " \n\t", "\u{200b}", " \u{2060}\u{e0020} ", "\u{a0}"] {
            assert_eq!(refuse_deceptive(text), Err(TextError::NothingVisible), "{text:?}");
        }
        for text in ["a\0", "a\u{1b}[2J", "a\u{85}", "\u{7}"] {
            assert_eq!(refuse_deceptive(text), Err(TextError::ControlCharacter), "{text:?}");
        }
        assert_eq!(refuse_deceptive("a\u{202e}b"), Err(TextError::Reordering('\u{202e}')));
    }

    #[test]
    fn the_patterns_name_the_ranges() {
        let refused = "\\u0000-\\u001f\\u007f-\\u009f\\u061c-\\u061c\\u200e-\\u200f\\u2028-\\u2029\\u202a-\\u202e\\u2066-\\u2069";
        assert_eq!(ordered_text_pattern(), format!("^[^{refused}]*$"));
        let visible = visible_text_pattern();
        assert!(
            visible.starts_with(&format!("^[^{refused}]*[^{refused}\\u00a0-\\u00a0")),
            "{visible}"
        );
    }
}
