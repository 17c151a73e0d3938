//! A thread that asks witnesses to cosign the newest checkpoint of the transparency log, and stores the cosignatures.

use std::{io, ops::ControlFlow, sync::Arc, time::Duration};

use sealpost_service::{Error as ServiceError, PeriodicThread, Sealpost};
use sealpost_transparency::{AddCheckpoint, Checkpoint, Note, SignatureLine, VerifierKey};
use thiserror::Error;
use ureq::Agent;

/// A witness that cosigns the checkpoints of this service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWitness {
    /// The public key of the witness.
    pub key: VerifierKey,
    /// The URL of the witness, without `/add-checkpoint`.
    pub url: String,
}

/// A witness, and the size that it has cosigned last.
struct AskedWitness {
    witness: LogWitness,
    size: u64,
    has_failed: bool,
}

/// The reason why there is no cosignature.
#[derive(Debug, Error)]
enum CosignFault {
    #[error(
        "the witness has cosigned {cosigned} entries, but the log has {size}: the database is older than the log"
    )]
    Ahead { cosigned: u64, size: u64 },
    #[error(transparent)]
    Http(#[from] ureq::Error),
    #[error("the checkpoint is not readable")]
    Log,
    #[error("the response has no valid cosignature of the witness")]
    NoCosignature,
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error("status {status}: {body}")]
    Status { status: u16, body: String },
}

/// Starts the thread. Its end may take [`TIMEOUT`] for each witness.
pub(crate) fn start(
    witnesses: Vec<LogWitness>,
    sealpost: Arc<Sealpost>,
) -> io::Result<PeriodicThread> {
    let asked = |witness| AskedWitness { witness, size: 0, has_failed: false };
    let mut witnesses: Vec<_> = witnesses.into_iter().map(asked).collect();
    let client: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(TIMEOUT))
        .build()
        .into();
    PeriodicThread::start("cosigners", PERIOD, move || {
        if let Err(error) = collect(&client, &mut witnesses, &sealpost) {
            tracing::warn!(%error, "the log has no new cosignatures; it is tried again");
        }
        ControlFlow::Continue(())
    })
}

/// Asks all witnesses to cosign the newest checkpoint, and stores it with all cosignatures.
fn collect(
    client: &Agent,
    witnesses: &mut [AskedWitness],
    sealpost: &Sealpost,
) -> Result<(), CosignFault> {
    let Some(note) = sealpost.unwitnessed_checkpoint()? else { return Ok(()) };
    let mut note = Note::parse(&note).map_err(|_fault| CosignFault::Log)?;
    let checkpoint = Checkpoint::parse(note.text()).map_err(|_fault| CosignFault::Log)?;
    let asked = note.clone();
    let mut is_cosigned = false;
    for witness in witnesses {
        match witness.ask(client, sealpost, &asked, checkpoint.size) {
            Ok(line) => {
                is_cosigned = true;
                witness.has_failed = false;
                note.add(line);
            }
            Err(error) => {
                if !witness.has_failed {
                    let (url, error): (_, &dyn std::error::Error) = (&witness.witness.url, &error);
                    tracing::warn!(error, url, "a witness has not cosigned the transparency log");
                }
                witness.has_failed = true;
            }
        }
    }
    if is_cosigned {
        sealpost.store_witnessed(&note.to_string())?;
    }
    Ok(())
}

impl AskedWitness {
    /// Asks for a cosignature. Asks again with the size that the witness names, because other nodes ask too.
    fn ask(
        &mut self,
        client: &Agent,
        sealpost: &Sealpost,
        checkpoint: &Note,
        size: u64,
    ) -> Result<SignatureLine, CosignFault> {
        let (mut status, mut body) = self.request(client, sealpost, checkpoint, size)?;
        if status == CONFLICT {
            let cosigned = body.trim().parse().unwrap_or(0);
            if cosigned > size {
                return Err(CosignFault::Ahead { cosigned, size });
            }
            self.size = cosigned;
            (status, body) = self.request(client, sealpost, checkpoint, size)?;
        }
        if status != OK {
            return Err(CosignFault::Status { status, body });
        }
        let is_valid = |line: &SignatureLine| {
            let note = Note::new(checkpoint.text().to_owned(), vec![line.clone()]);
            matches!(note.cosigned_at(&self.witness.key), Ok(Some(_)))
        };
        let line = body.lines().filter_map(SignatureLine::parse).find(is_valid);
        let line = line.ok_or(CosignFault::NoCosignature)?;
        self.size = size;
        Ok(line)
    }

    fn request(
        &self,
        client: &Agent,
        sealpost: &Sealpost,
        checkpoint: &Note,
        size: u64,
    ) -> Result<(u16, String), CosignFault> {
        let old_size = self.size.min(size);
        let proof = sealpost.log_consistency(old_size, size)?;
        let body = AddCheckpoint { old_size, proof, checkpoint: checkpoint.clone() }.to_string();
        let url = format!("{}/add-checkpoint", self.witness.url.trim_end_matches('/'));
        let mut response = client.post(url).send(body.as_bytes())?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_string()?;
        Ok((status, body))
    }
}

/// Interval between two rounds.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum time for one request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response body in bytes.
const BODY_BYTES_MAX: u64 = 4_096;
const CONFLICT: u16 = 409;
const OK: u16 = 200;
