//! Proves to a caller that the newest statement about a key or a badge is in the log (tlog-proof).

use sealpost_domain::ports::StatementKind;
use sealpost_transparency::{LogProof, Note, Statement, TileTree};

use super::append::{TreeFault, read_tile, refused};
use crate::{error::Error, sealpost::core::Core};

impl Core {
    /// Returns the proof file of the newest statement about a subject. `None` until the statement is in the log.
    pub(crate) fn prove(
        &self,
        kind: StatementKind,
        subject: &str,
    ) -> Result<Option<String>, Error> {
        let proof = self.store.read(|reader| {
            // The head is read after the statement, so its tree contains the entry.
            let Some(logged) = reader.newest_statement(kind, subject)? else { return Ok(None) };
            let Some(head) = reader.log_head()? else { return Ok(None) };
            let checkpoint = Note::parse(&head.checkpoint).map_err(refused)?;
            let mut tree = TileTree::new(head.size, |tile| read_tile(reader, tile));
            let hashes = tree.inclusion_proof(logged.number)?;
            let at_ms = u64::try_from(logged.at.as_millis()).unwrap_or(0);
            let kind = kind.as_str().to_owned();
            let statement = Statement { kind, at_ms, salt: logged.salt, text: logged.text };
            let extra = statement.to_string().into_bytes();
            Ok::<_, TreeFault>(Some(LogProof { extra, index: logged.number, hashes, checkpoint }))
        });
        let proof = proof.map_err(sealpost_domain::ports::StoreError::from)?;
        Ok(proof.map(|proof| proof.to_string()))
    }
}
