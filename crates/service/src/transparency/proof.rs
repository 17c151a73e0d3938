//! Proves to a caller that the newest statement about a key or a badge, or an envelope, is in the log (tlog-proof).

use std::time::Duration;

use sealpost_domain::{
    EnvelopeMeta,
    ports::{LoggedStatement, StatementKind, StoreError},
};
use sealpost_storage::Reader;
use sealpost_transparency::{
    Checkpoint, EnvelopePlace, LogProof, Note, Statement, TileTree, TreeHash,
};

use super::stored::{TreeFault, hashes, read_tile, signed};
use crate::{error::Error, sealpost::core::Core};

impl Core {
    /// Returns the proof file of the newest statement about a subject. `None` until the statement is in the log.
    pub(crate) fn prove(
        &self,
        kind: StatementKind,
        subject: &str,
    ) -> Result<Option<String>, Error> {
        self.read_proof(|reader| {
            let Some(logged) = reader.newest_statement(kind, subject)? else { return Ok(None) };
            proof(reader, kind, logged, None)
        })
    }

    /// Returns the proof file of an envelope. `None` until the envelope is in the log.
    pub(crate) fn prove_envelope(&self, meta: &EnvelopeMeta) -> Result<Option<String>, Error> {
        let text = envelope_text(meta);
        let leaf = TreeHash::of_leaf(text.as_bytes());
        // An envelope is appended after it was sent, but perhaps by a node with a slower clock.
        let since = meta.timestamp.minus(CLOCK_SKEW_MAX);
        self.read_proof(|reader| {
            let found = reader.find_envelope_list(&leaf.0, since)?;
            let Some((logged, leaves)) = found else { return Ok(None) };
            let envelope = EnvelopePlace::find(text.clone(), &hashes(&leaves))?;
            if envelope.is_none() {
                Ok(None)
            } else {
                proof(reader, StatementKind::Envelopes, logged, envelope)
            }
        })
    }

    fn read_proof(
        &self,
        read: impl FnMut(&mut Reader) -> Result<Option<LogProof>, TreeFault>,
    ) -> Result<Option<String>, Error> {
        let proof = self.store.read(read).map_err(StoreError::from)?;
        Ok(proof.map(|proof| proof.to_string()))
    }
}

/// Proves a statement, for the newest checkpoint that witnesses have cosigned, if it includes the entry. The head is
/// read after the statement, so its tree contains the entry.
fn proof(
    reader: &mut Reader,
    kind: StatementKind,
    LoggedStatement { number: index, at, salt, text }: LoggedStatement,
    envelope: Option<EnvelopePlace>,
) -> Result<Option<LogProof>, TreeFault> {
    let Some(head) = reader.log_head()? else { return Ok(None) };
    let includes = |(_, checkpoint): &(Note, Checkpoint)| checkpoint.size > index;
    let witnessed = head.witnessed.as_deref().map(signed).transpose()?.filter(includes);
    let (note, Checkpoint { size, .. }) = match witnessed {
        Some(witnessed) => witnessed,
        None => signed(&head.checkpoint)?,
    };
    let mut tree = TileTree::new(size, |tile| read_tile(reader, tile));
    let hashes = tree.inclusion_proof(index)?;
    let at_ms = u64::try_from(at.as_millis()).unwrap_or(0);
    let kind = kind.as_str().to_owned();
    let extra = Statement { kind, at_ms, salt, text, envelope }.to_string().into_bytes();
    Ok(Some(LogProof { extra, index, hashes, checkpoint: note }))
}

/// Returns the hash of an envelope for the log.
pub(crate) fn envelope_leaf(meta: &EnvelopeMeta) -> [u8; 32] {
    TreeHash::of_leaf(envelope_text(meta).as_bytes()).0
}

fn envelope_text(meta: &EnvelopeMeta) -> String {
    let EnvelopeMeta { id, sender, recipient, hash, timestamp, .. } = meta;
    format!(
        "envelope {id}\nhash {hash}\nsender {sender}\nrecipient {recipient}\nsent_at {}\n",
        timestamp.as_millis()
    )
}

/// The largest expected difference between the clocks of two nodes.
const CLOCK_SKEW_MAX: Duration = Duration::from_secs(10);
