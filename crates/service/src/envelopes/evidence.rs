//! Creates evidence about an envelope for its sender or recipient. The evidence describes the envelope and its state.
//! The evidence is appended to the transparency log, and returned with all proofs in one file.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, EnvelopeId, EnvelopeMeta, ReceiptPolicy, ReceiptView, Refusal, TokenScope,
    ports::{StatementKind, StoreError},
};
use sealpost_storage::{Abort, Reader, Transaction};
use sealpost_transparency::{Evidence, Statement};
use sealpost_wallet::random;
use serde::Serialize;
use tokio::time::sleep;

use super::Mailbox;
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    error::Error,
    sealpost::core::Core,
    transparency::{
        proof::{
            Logged, envelope_text, find_badge, find_envelope, find_statement, prove_entry,
            witnessed,
        },
        stored::{TreeError, signed},
    },
};

/// Evidence about an envelope.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EvidenceView {
    /// Id of the envelope.
    pub envelope_id: EnvelopeId,
    /// The evidence file, which `sealpost verify-proof` verifies.
    pub evidence: String,
    /// True if a witness (another server) has cosigned the state of the log that the file proves. False if the service
    /// has no witness, or if no witness responded in time.
    pub cosigned: bool,
}

impl Mailbox {
    /// Appends a description of an envelope to the transparency log, and returns the description with its proofs. The
    /// description contains only data that the caller may see. Refuses an envelope that has expired, or that the caller
    /// neither sent nor received. If the log has witnesses, waits up to six seconds for a cosignature.
    pub async fn evidence(&self, caller: &Caller, envelope_id: String) -> Limited<EvidenceView> {
        let by = caller.clone();
        let state = move |mailbox: &Self| mailbox.state(&by, &envelope_id);
        let Limited { result, limits } =
            self.core.ask_as(self, caller, Purpose::Manage, state).await;
        let result = match result {
            Ok((id, stated)) => self.prove_stated(id, stated).await,
            Err(error) => Err(error),
        };
        Limited { result, limits }
    }

    /// Creates the evidence file from `stated`: the log entry of the evidence, and then the entries that the evidence
    /// names. If the log has witnesses, first waits at most six seconds until a witness has cosigned the entry of the
    /// evidence, which is the newest entry.
    async fn prove_stated(
        &self,
        id: EnvelopeId,
        stated: Vec<Logged>,
    ) -> Result<EvidenceView, Error> {
        let newest = stated.first().map_or(0, |logged| logged.index);
        let checks = if self.core.settings.has_log_witnesses { COSIGNATURE_CHECKS } else { 0 };
        for _ in 0..checks {
            if self.core.block(&self.core, move |core| is_cosigned(core, newest)).await? {
                break;
            }
            sleep(COSIGNATURE_PAUSE).await;
        }
        self.core.block(&self.core, move |core| prove(core, id, &stated, newest)).await
    }

    /// Appends evidence about an envelope to the log. First appends all pending statements (texts about keys, badges
    /// and envelopes), so that the evidence can name their log entries. Returns the entry of the evidence, and then the
    /// entries that the evidence names.
    fn state(&self, caller: &Caller, id: &str) -> Result<(EnvelopeId, Vec<Logged>), Error> {
        let core = &self.core;
        let unknown = Refusal::ExchangedEnvelopeNotFound;
        let id: EnvelopeId = id.parse().map_err(|_malformed| Refusal::for_id(id, unknown))?;
        // Refuses an unknown envelope before the log is locked.
        core.store.read(|reader| find(core, reader, caller, &id).map(drop))?;
        self.log.append_statements()?;
        let salt = random::<32>()?;
        let mut named = Vec::new();
        let (index, statement) = self.log.append_unstored(|tx, now| {
            let Description { text, entries } = describe(core, tx, caller, &id)?;
            named = entries;
            let (kind, at_ms) =
                (Evidence::KIND.to_owned(), u64::try_from(now.as_millis()).unwrap_or(0));
            Ok(Statement { kind, at_ms, salt, text, envelope: None })
        })?;
        let mut stated = vec![Logged { statement, index }];
        stated.append(&mut named);
        Ok((id, stated))
    }
}

/// Describes an envelope: its state and times, and the DID and the newest badge of each party. Omits DID and badge of
/// the other party if that party's policy hides the label. Omits data that is not in the log, such as keys of an erased
/// account.
fn describe(
    core: &Core,
    tx: &mut Transaction,
    caller: &Caller,
    id: &EnvelopeId,
) -> Result<Description, Abort> {
    let (meta, receipt) = find(core, tx, caller, id)?;
    let mut description = Description { text: envelope_text(&meta), entries: Vec::new() };
    description.add("state", receipt.state.as_str());
    for (name, time) in [("notified_at", receipt.notified_at), ("opened_at", receipt.opened_at)] {
        if let Some(time) = time {
            description.add(name, time.as_millis());
        }
    }
    if let Some(envelope) = find_envelope(tx, &meta).map_err(StoreError::from)? {
        description.refer("envelope_entry", envelope);
    }
    for (party, key) in [("sender", &meta.sender), ("recipient", &meta.recipient)] {
        let is_shown =
            *key == caller.id.key || tx.find_policy(key)?.is_none_or(|policy| policy.is_listed);
        if is_shown {
            description.add_key(tx, party, key)?;
        }
    }
    Ok(description)
}

/// The text of evidence, and the log entries that the text names, in the order of the text.
struct Description {
    text: String,
    entries: Vec<Logged>,
}

impl Description {
    fn add(&mut self, name: &str, value: impl fmt::Display) {
        self.text.extend([name, " ", &value.to_string(), "\n"]);
    }

    fn refer(&mut self, name: &str, entry: Logged) {
        self.add(name, entry.index);
        self.entries.push(entry);
    }

    /// Adds the DID and the newest badge of a key to the description, as far as the log contains them.
    fn add_key(
        &mut self,
        reader: &mut Reader,
        party: &str,
        key: &ApiKeyId,
    ) -> Result<(), StoreError> {
        if let Some(logged) = find_statement(reader, StatementKind::Key, &key.to_string())?
            && let Some(did) = logged.statement.value("did")
        {
            self.add(&format!("{party}_did"), did);
            self.refer(&format!("{party}_entry"), logged);
        }
        let Some(badge) = reader.badges_of(key, 1)?.pop() else { return Ok(()) };
        let is_revoked = badge.revocation.is_some();
        if let Some(logged) = find_badge(reader, &badge.id, is_revoked)? {
            self.add(&format!("{party}_badge"), badge.id);
            self.refer(&format!("{party}_badge_entry"), logged);
        }
        Ok(())
    }
}

/// Finds an envelope and its state, as the sender or the recipient sees them. Refuses an envelope that has expired, or
/// that the caller neither sent nor received. An API token needs the scope `send` for the sender's view, and the scope
/// `open` for the recipient's view.
fn find(
    core: &Core,
    reader: &mut Reader,
    caller: &Caller,
    id: &EnvelopeId,
) -> Result<(EnvelopeMeta, ReceiptView), Abort> {
    let key = &caller.id.key;
    let sent = reader.find_sent(id, key)?;
    let recipient = sent.as_ref().map_or(key, |sent| &sent.recipient);
    let found = reader.find_envelope(id, recipient)?.ok_or(Refusal::ExchangedEnvelopeNotFound)?;
    let meta = found.envelope.meta;
    if meta.timestamp < core.kept_since(core.clock.now()) {
        return Err(Refusal::ExchangedEnvelopeNotFound.into());
    }
    if let Some(sent) = sent {
        let may_send = caller.require_scope(&[TokenScope::Send]);
        if may_send.is_ok() || sent.recipient != *key {
            may_send?;
            return Ok((meta, sent.receipts.view(&sent.facts)));
        }
    }
    caller.require_scope(&[TokenScope::Open])?;
    let sent = reader.find_sent(id, &meta.sender)?.ok_or(Refusal::ExchangedEnvelopeNotFound)?;
    Ok((meta, ReceiptPolicy::Opened.view(&sent.facts)))
}

/// Returns true if witnesses have cosigned a checkpoint that includes the entry `index`.
fn is_cosigned(core: &Core, index: u64) -> Result<bool, Error> {
    let head = core.store.read(Reader::log_head)?.ok_or(NO_LOG)?;
    Ok(witnessed(&head, index)?.is_some())
}

fn prove(
    core: &Core,
    envelope_id: EnvelopeId,
    stated: &[Logged],
    newest: u64,
) -> Result<EvidenceView, Error> {
    let evidence = core.store.read(|reader| {
        let head = reader.log_head()?.ok_or(NO_LOG)?;
        let witnessed = witnessed(&head, newest)?;
        let is_cosigned = witnessed.is_some();
        let (note, checkpoint) = witnessed.map_or_else(|| signed(&head.checkpoint), Ok)?;
        let prove = |logged: &Logged| prove_entry(reader, checkpoint.size, logged);
        let entries = stated.iter().map(prove).collect::<Result<_, TreeError>>()?;
        Ok((Evidence { entries, checkpoint: note }, is_cosigned))
    });
    let (evidence, cosigned) =
        evidence.map_err(|fault: TreeError| Error::from(StoreError::from(fault)))?;
    Ok(EvidenceView { envelope_id, evidence: evidence.to_string(), cosigned })
}

const NO_LOG: StoreError = StoreError::Corrupt("transparency log");
/// Number of checks for a cosignature. With [`COSIGNATURE_PAUSE`] after each check, they take six seconds. A
/// cosignature takes up to five: a node pauses for one second between its requests to a witness, and waits at most four
/// for a response.
const COSIGNATURE_CHECKS: u32 = 24;
const COSIGNATURE_PAUSE: Duration = Duration::from_millis(250);
