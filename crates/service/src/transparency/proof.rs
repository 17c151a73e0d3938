//! Proves to a caller that an envelope, or the newest statement about a key or a badge, is in the log. The proof has
//! the format tlog-proof or COSE receipt.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use sealpost_domain::{
    BadgeId, EnvelopeMeta, named_enum,
    ports::{LogHead, LoggedStatement, StatementKind, StoreError},
};
use sealpost_storage::Reader;
use sealpost_transparency::{
    Checkpoint, CoseReceipt, EnvelopePlace, LogProof, Note, ProvenEntry, Statement, TileTree,
    TreeHash,
};

use super::{
    TransparencyLog,
    stored::{TreeError, hashes, read_tile, refused, signed, signed_by},
};
use crate::error::Error;

named_enum! {
    /// The form of a proof in a response.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema)]
    #[schemars(rename_all = "snake_case")]
    pub enum ProofFormat {
        /// A COSE receipt (RFC 9942) in base64. It has no cosignatures.
        Cose = "cose",
        /// A proof file (tlog-proof) with the cosignatures of witnesses.
        #[default]
        Tlog = "tlog",
    }
}

/// A statement (text about a key, a badge, an envelope or other data) of the log, and the number of its entry.
pub(crate) struct Logged {
    pub(crate) statement: Statement,
    pub(crate) index: u64,
}

impl TransparencyLog {
    /// Returns a proof that the log contains the statement that `find` returns. `None` until `find` returns a
    /// statement.
    pub(crate) fn prove<E>(
        &self,
        format: ProofFormat,
        mut find: impl FnMut(&mut Reader) -> Result<Option<Logged>, E>,
    ) -> Result<Option<String>, Error>
    where
        TreeError: From<E>,
    {
        let proof = self.core.store.read(|reader| {
            // The head is read after the statement, so its tree contains the entry.
            let Some(logged) = find(reader)? else { return Ok(None) };
            let Some(head) = reader.log_head()? else { return Ok(None) };
            match format {
                ProofFormat::Cose => self.cose_receipt(reader, &head, &logged).map(Some),
                ProofFormat::Tlog => log_proof(reader, &head, &logged).map(Some),
            }
        });
        Ok(proof.map_err(|fault: TreeError| StoreError::from(fault))?)
    }

    fn cose_receipt(
        &self,
        reader: &mut Reader,
        head: &LogHead,
        logged: &Logged,
    ) -> Result<String, TreeError> {
        let signer = self.signer(head).map_err(refused)?;
        let checkpoint = signed_by(&head.checkpoint, &signer.key)?;
        let entry = prove_entry(reader, checkpoint.size, logged)?;
        let sign = |message: &[u8]| signer.secret.sign(message);
        let receipt = CoseReceipt::create(&entry, &checkpoint, &signer.key, sign);
        Ok(STANDARD.encode(receipt.map_err(refused)?))
    }
}

/// Finds the newest statement about the object with the id `subject`, such as a key. `None` until a statement about the
/// object is in the log.
pub(crate) fn find_statement(
    reader: &mut Reader,
    kind: StatementKind,
    subject: &str,
) -> Result<Option<Logged>, StoreError> {
    let found = reader.newest_statement(kind, subject)?;
    Ok(found.map(|statement| Logged::new(kind, statement, None)))
}

/// Finds the newest statement about a badge. Returns `None` if no statement is in the log yet, or if the status in the
/// statement contradicts `is_revoked`. The status contradicts if another program changed the row of the badge: the row
/// then lacks a valid authentication tag, so the service treats the badge as revoked.
pub(crate) fn find_badge(
    reader: &mut Reader,
    id: &BadgeId,
    is_revoked: bool,
) -> Result<Option<Logged>, StoreError> {
    let status = if is_revoked { "revoked" } else { "valid" };
    let found = find_statement(reader, StatementKind::Badge, &id.to_string())?;
    Ok(found.filter(|logged| logged.statement.value("status") == Some(status)))
}

/// Finds the statement about an envelope. `None` until the statement is in the log.
pub(crate) fn find_envelope(
    reader: &mut Reader,
    meta: &EnvelopeMeta,
) -> Result<Option<Logged>, TreeError> {
    let text = envelope_text(meta);
    let leaf = TreeHash::leaf(text.as_bytes());
    // The entry is appended after the send, but has the time of the database server. If the clock of the node that
    // stored the envelope is ahead, the time of the entry is earlier than the time of the envelope.
    let found = reader.find_envelope_list(&leaf.0, meta.timestamp, CLOCK_SKEW_MAX)?;
    let Some((statement, leaves)) = found else { return Ok(None) };
    let envelope = EnvelopePlace::find(text, &hashes(&leaves))?;
    Ok(envelope.map(|place| Logged::new(StatementKind::Envelopes, statement, Some(place))))
}

impl Logged {
    pub(super) fn new(
        kind: StatementKind,
        LoggedStatement { number, at, salt, text }: LoggedStatement,
        envelope: Option<EnvelopePlace>,
    ) -> Self {
        let at_ms = u64::try_from(at.as_millis()).unwrap_or(0);
        let kind = kind.as_str().to_owned();
        Self { statement: Statement { kind, at_ms, salt, text, envelope }, index: number }
    }
}

/// Creates the proof file of an entry, with the newest checkpoint that witnesses have cosigned. If this checkpoint does
/// not include the entry, uses the newest checkpoint.
fn log_proof(reader: &mut Reader, head: &LogHead, logged: &Logged) -> Result<String, TreeError> {
    let witnessed = witnessed(head, logged.index)?;
    let (checkpoint, Checkpoint { size, .. }) =
        witnessed.map_or_else(|| signed(&head.checkpoint), Ok)?;
    let ProvenEntry { statement, index, hashes } = prove_entry(reader, size, logged)?;
    let extra = statement.to_string().into_bytes();
    Ok(LogProof { extra, index, hashes, checkpoint }.to_string())
}

/// Returns the newest checkpoint that witnesses have cosigned. Returns `None` if there is none, or if this checkpoint
/// does not include the entry `index`.
pub(crate) fn witnessed(
    head: &LogHead,
    index: u64,
) -> Result<Option<(Note, Checkpoint)>, StoreError> {
    let witnessed = head.witnessed.as_deref().map(signed).transpose()?;
    Ok(witnessed.filter(|(_, checkpoint)| checkpoint.size > index))
}

/// Creates the proof that an entry is in the tree of the first `size` entries (inclusion proof).
pub(crate) fn prove_entry(
    reader: &mut Reader,
    size: u64,
    Logged { statement, index }: &Logged,
) -> Result<ProvenEntry, TreeError> {
    let hashes = TileTree::new(size, |tile| read_tile(reader, tile)).inclusion_proof(*index)?;
    Ok(ProvenEntry { statement: statement.clone(), index: *index, hashes })
}

/// Returns the hash of an envelope for the log.
pub(crate) fn envelope_leaf(meta: &EnvelopeMeta) -> [u8; 32] {
    TreeHash::leaf(envelope_text(meta).as_bytes()).0
}

/// Returns the text about an envelope that [`envelope_leaf`] hashes.
pub(crate) fn envelope_text(meta: &EnvelopeMeta) -> String {
    let EnvelopeMeta { id, sender, recipient, hash, timestamp, .. } = meta;
    format!(
        "envelope {id}\nhash {hash}\nsender {sender}\nrecipient {recipient}\nsent_at {}\n",
        timestamp.as_millis()
    )
}

/// The largest expected difference between the clocks of a node and the database server.
const CLOCK_SKEW_MAX: Duration = Duration::from_mins(5);
