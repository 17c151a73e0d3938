//! Signed notes: a text with the signatures of logs and witnesses (signed-note, tlog-cosignature).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use thiserror::Error;

use crate::{
    cosignature::cosigned_message,
    key::{VerifierKey, is_name},
};

/// A signed note: a text with the signatures of logs and witnesses. `Display` writes the whole note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<SignatureLine>,
}

/// One signature of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureLine {
    name: String,
    key_id: [u8; 4],
    signature: Vec<u8>,
}

/// The reason why a note is refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NoteError {
    /// The bytes are malformed.
    #[error("no signed note: {0}")]
    Form(&'static str),
    /// A signature of a trusted key is wrong.
    #[error("the signature of '{0}' is wrong: the note was changed, or was signed by another key")]
    Signature(String),
}

impl Note {
    /// Creates a note from a text, which ends with a line feed.
    pub fn new(text: String, signatures: Vec<SignatureLine>) -> Self {
        Self { text, signatures }
    }

    /// Reads a note, without verification of its signatures.
    pub fn parse(note: &str) -> Result<Self, NoteError> {
        if note.len() > BYTES_MAX {
            return Err(NoteError::Form("it is longer than 512 KiB"));
        }
        if note.contains(|c: char| c.is_ascii_control() && c != '\n') {
            return Err(NoteError::Form("it contains a control character"));
        }
        let (text, lines) = note
            .rsplit_once("\n\n")
            .ok_or(NoteError::Form("it has no empty line before the signatures"))?;
        let lines = lines.strip_suffix('\n').ok_or(NoteError::Form("its last line has no end"))?;
        let signatures: Vec<_> = lines
            .split('\n')
            .map(SignatureLine::parse)
            .collect::<Option<_>>()
            .ok_or(NoteError::Form("a line after the text is no signature"))?;
        if signatures.len() > SIGNATURES_MAX {
            return Err(NoteError::Form("it has more than 100 signatures"));
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Returns the text, with its last line feed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a signature.
    pub fn add(&mut self, signature: SignatureLine) {
        self.signatures.push(signature);
    }

    /// Adds those signatures of `other` whose keys have not signed this note. Both notes must have the same text.
    pub fn merge(&mut self, other: Self) {
        for line in other.signatures {
            let is_same_key =
                |own: &SignatureLine| (&own.name, own.key_id) == (&line.name, line.key_id);
            if !self.signatures.iter().any(is_same_key) {
                self.signatures.push(line);
            }
        }
    }

    /// Returns a note with the same text, and with only one signature: the first by `key`.
    #[must_use]
    pub fn signed_only_by(&self, key: &VerifierKey) -> Self {
        Self::new(self.text.clone(), self.lines_of(key).take(1).cloned().collect())
    }

    /// Returns true if the note has a signature in the name of `key`. Does not verify the signature.
    pub fn names(&self, key: &VerifierKey) -> bool {
        self.lines_of(key).next().is_some()
    }

    /// Returns true if `key` has signed the note as a log. Fails if a signature of the key is wrong.
    pub fn is_signed_by(&self, key: &VerifierKey) -> Result<bool, NoteError> {
        let mut is_signed = false;
        for line in self.lines_of(key).filter(|_| !key.signature_type().is_of_witness()) {
            line.verify(key, self.text.as_bytes(), &line.signature)?;
            is_signed = true;
        }
        Ok(is_signed)
    }

    /// Returns the time of the newest signature of a witness, in seconds since the Unix epoch. `None` if the witness
    /// has not signed. Fails if a signature of the witness is wrong.
    pub fn cosigned_at(&self, witness: &VerifierKey) -> Result<Option<u64>, NoteError> {
        let mut newest = None;
        for line in self.lines_of(witness).filter(|_| witness.signature_type().is_of_witness()) {
            let wrong = || NoteError::Signature(line.name.clone());
            let (time, signature) = line.signature.split_first_chunk().ok_or_else(wrong)?;
            let time = u64::from_be_bytes(*time);
            let message = cosigned_message(witness, &self.text, time).ok_or_else(wrong)?;
            line.verify(witness, &message, signature)?;
            newest = newest.max(Some(time));
        }
        Ok(newest)
    }

    fn lines_of(&self, key: &VerifierKey) -> impl Iterator<Item = &SignatureLine> {
        let id = key.id();
        self.signatures.iter().filter(move |line| line.key_id == id && line.name == key.name())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl SignatureLine {
    /// Creates the signature line of a log from its signature over the text of the note.
    pub fn by_log(key: &VerifierKey, signature: [u8; 64]) -> Self {
        Self { name: key.name().to_owned(), key_id: key.id(), signature: signature.to_vec() }
    }

    /// Creates the signature line of a witness from its signature over [`cosigned_message`] with the time in seconds.
    pub(crate) fn by_witness(key: &VerifierKey, time: u64, signature: &[u8]) -> Self {
        let signature = [&time.to_be_bytes(), signature].concat();
        Self { name: key.name().to_owned(), key_id: key.id(), signature }
    }

    /// Reads a line without its line feed; `None` if it is no signature.
    pub fn parse(line: &str) -> Option<Self> {
        let (name, signature) = line.strip_prefix("— ")?.split_once(' ')?;
        let bytes = STANDARD.decode(signature).ok()?;
        let (key_id, signature) = bytes.split_first_chunk()?;
        let is_valid = is_name(name) && !signature.is_empty();
        is_valid.then(|| Self {
            name: name.to_owned(),
            key_id: *key_id,
            signature: signature.to_vec(),
        })
    }

    fn verify(&self, key: &VerifierKey, message: &[u8], signature: &[u8]) -> Result<(), NoteError> {
        if key.has_signed(message, signature) {
            Ok(())
        } else {
            Err(NoteError::Signature(self.name.clone()))
        }
    }
}

impl fmt::Display for SignatureLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = [self.key_id.as_slice(), &self.signature].concat();
        write!(f, "— {} {}", self.name, STANDARD.encode(signature))
    }
}

/// Maximum size of a note in bytes. Large enough for [`SIGNATURES_MAX`] signatures of ML-DSA-44, with 3.3 KB each.
const BYTES_MAX: usize = 512 * 1024;
const SIGNATURES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of signed notes, with its published key.
    const GO_NOTE: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    const GO_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    #[test]
    fn a_note_of_another_program_verifies() {
        let (note, key) = (Note::parse(GO_NOTE).unwrap(), VerifierKey::parse(GO_KEY).unwrap());
        assert_eq!(note.is_signed_by(&key), Ok(true));
        assert_eq!(note.to_string(), GO_NOTE);
        let changed = Note::parse(&GO_NOTE.replace("answer", "amswer")).unwrap();
        assert_eq!(
            changed.is_signed_by(&key),
            Err(NoteError::Signature("PeterNeumann".to_owned()))
        );
        let unknown = Note::parse(&GO_NOTE.replace("— PeterNeumann", "— Peter")).unwrap();
        assert_eq!(unknown.is_signed_by(&key), Ok(false));
    }

    #[test]
    fn other_texts_are_no_notes() {
        for note in [
            "",
            "text\n",
            "text\n\n",
            "text\n\nno signature\n",
            &GO_NOTE.replace("— ", "- "),
            &GO_NOTE.replace("PeterNeumann ", "Peter Neumann "),
            &GO_NOTE.replace("PeterNeumann ", "Peter+Neumann "),
            &GO_NOTE.replace('\n', "\r\n"),
            GO_NOTE.trim_end(),
            &format!("{GO_NOTE}\n"),
        ] {
            assert!(Note::parse(note).is_err(), "{note}");
        }
    }
}
