//! A thread that asks witnesses to cosign the newest checkpoint of the transparency log, and stores the cosignatures.

use std::{
    io,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use sealpost_domain::with_causes;
use sealpost_service::{Error as ServiceError, PeriodicThread, Sealpost};
use sealpost_transparency::{
    AddCheckpoint, Checkpoint, Note, SignatureLine, SignatureType, VerifierKey,
};
use thiserror::Error;
use ureq::Agent;

/// A witness that cosigns the checkpoints of this service. A witness with two keys needs two values with the same URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogWitness {
    /// A public key of the witness.
    pub key: VerifierKey,
    /// The URL of the witness, without `/add-checkpoint`.
    pub url: String,
}

/// A witness with its keys, and the state of the requests to it. `size` is the log size in the checkpoint that the
/// witness has cosigned last; 0 if unknown.
struct AskedWitness {
    url: String,
    keys: Vec<VerifierKey>,
    size: u64,
    has_failed: bool,
}

/// The reason why a cosignature is missing.
#[derive(Debug, Error)]
enum CosignError {
    #[error(
        "the witness has cosigned {cosigned} entries, but the log has {size}: the database is older than the log"
    )]
    Ahead { cosigned: u64, size: u64 },
    #[error(transparent)]
    Http(#[from] ureq::Error),
    #[error("the checkpoint is not readable")]
    Log,
    #[error("the response has no valid signature of '{name}' ({kind:?})")]
    NoCosignature { name: String, kind: SignatureType },
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error("status {status}: {body}")]
    Status { status: u16, body: String },
}

/// Starts the thread. Stopping the thread can take the time of two requests, each at most [`TIMEOUT`].
pub(crate) fn start(
    witnesses: Vec<LogWitness>,
    sealpost: Arc<Sealpost>,
) -> io::Result<PeriodicThread> {
    let mut witnesses = AskedWitness::all(witnesses);
    let client: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(TIMEOUT))
        .build()
        .into();
    let mut has_failed = false;
    PeriodicThread::start("cosigners", [PERIOD; 2], move |_| {
        let done = collect(&client, &mut witnesses, &sealpost);
        // Logs only the first of consecutive failures.
        if let Err(error) = &done
            && !has_failed
        {
            tracing::warn!(
                error = with_causes(error),
                "the log has no new cosignatures; it is tried again"
            );
        }
        has_failed = done.is_err();
    })
}

/// Asks all witnesses at the same time to cosign the newest checkpoint, and stores the checkpoint with their
/// cosignatures. A witness is awaited if its last request did not fail. Does nothing if the newest checkpoint has the
/// cosignatures of all awaited witnesses.
///
/// The policy of a verifier may require several witnesses. Therefore, new cosignatures are stored together, after the
/// responses of all awaited witnesses. Each cosignature that arrives after these responses is stored at once.
fn collect(
    client: &Agent,
    witnesses: &mut [AskedWitness],
    sealpost: &Sealpost,
) -> Result<(), CosignError> {
    let expected = witnesses.iter().filter(|witness| !witness.has_failed);
    let keys: Vec<_> = expected.flat_map(|witness| &witness.keys).collect();
    let unwitnessed = sealpost.transparency_log.unwitnessed_checkpoint(&keys)?;
    let Some(note) = unwitnessed else { return Ok(()) };
    let note = Note::parse(&note).map_err(|_fault| CosignError::Log)?;
    let checkpoint = Checkpoint::parse(note.text()).map_err(|_fault| CosignError::Log)?;
    let mut cosigned = note.clone();
    let mut awaited = witnesses.iter().filter(|witness| !witness.has_failed).count();
    thread::scope(|scope| {
        let (send, responses) = mpsc::channel();
        for witness in witnesses {
            let (send, note) = (send.clone(), &note);
            scope.spawn(move || {
                let is_awaited = !witness.has_failed;
                let lines = witness.cosignatures(client, sealpost, (note, checkpoint.size));
                // Ignores an error: the receiver is dropped only if a cosignature could not be stored.
                drop(send.send((is_awaited, lines)));
            });
        }
        drop(send);
        let mut has_new = false;
        for (is_awaited, lines) in responses {
            awaited = awaited.saturating_sub(usize::from(is_awaited));
            has_new |= !lines.is_empty();
            for line in lines {
                cosigned.add(line);
            }
            if awaited == 0 && has_new {
                sealpost.transparency_log.store_witnessed(&cosigned.to_string())?;
                has_new = false;
            }
        }
        Ok(())
    })
}

impl AskedWitness {
    /// Merges the keys of each URL, so that each witness is asked once.
    fn all(witnesses: Vec<LogWitness>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for LogWitness { key, url } in witnesses {
            match all.iter_mut().find(|witness| witness.url == url) {
                Some(witness) => witness.keys.push(key),
                None => all.push(Self { url, keys: vec![key], size: 0, has_failed: false }),
            }
        }
        all
    }

    /// Returns the valid cosignatures of a checkpoint. Logs only the first of consecutive failures of the witness.
    fn cosignatures(
        &mut self,
        client: &Agent,
        sealpost: &Sealpost,
        checkpoint: (&Note, u64),
    ) -> Vec<SignatureLine> {
        let mut cosignatures = Vec::new();
        let asked = self.ask(client, sealpost, checkpoint, &mut cosignatures);
        if let Err(error) = &asked
            && !self.has_failed
        {
            tracing::warn!(
                error = with_causes(error),
                url = self.url,
                "a witness has not cosigned the transparency log"
            );
        }
        self.has_failed = asked.is_err();
        cosignatures
    }

    /// Asks the witness for the cosignatures of all its keys, and adds them to `cosignatures`. Fails if the cosignature
    /// of a key is missing, or if the witness has cosigned more entries than `size`, the size of the checkpoint.
    ///
    /// A request names the log size that the witness has cosigned last. If another node has changed this size, the
    /// witness responds with the present size, and this function repeats the request with the present size.
    fn ask(
        &mut self,
        client: &Agent,
        sealpost: &Sealpost,
        (checkpoint, size): (&Note, u64),
        cosignatures: &mut Vec<SignatureLine>,
    ) -> Result<(), CosignError> {
        let (mut status, mut body) = self.request(client, sealpost, checkpoint, size)?;
        // A conflict response with a size means that the witness has cosigned a checkpoint of this size. Without a
        // size, the witness has cosigned another tree of the same size, and a second request would fail too.
        if status == CONFLICT
            && let Ok(cosigned) = body.trim().parse()
        {
            if cosigned > size {
                return Err(CosignError::Ahead { cosigned, size });
            }
            self.size = cosigned;
            (status, body) = self.request(client, sealpost, checkpoint, size)?;
        }
        if status != OK {
            return Err(CosignError::Status { status, body });
        }
        self.size = size;
        let lines: Vec<_> = body.lines().filter_map(SignatureLine::parse).collect();
        let mut missing = Ok(());
        for key in &self.keys {
            let is_valid = |line: &&SignatureLine| {
                let note = Note::new(checkpoint.text().to_owned(), vec![(*line).clone()]);
                matches!(note.cosigned_at(key), Ok(Some(_)))
            };
            if let Some(line) = lines.iter().find(is_valid) {
                cosignatures.push(line.clone());
            } else {
                let (name, kind) = (key.name().to_owned(), key.signature_type());
                missing = Err(CosignError::NoCosignature { name, kind });
            }
        }
        missing
    }

    fn request(
        &self,
        client: &Agent,
        sealpost: &Sealpost,
        checkpoint: &Note,
        size: u64,
    ) -> Result<(u16, String), CosignError> {
        let old_size = self.size.min(size);
        let proof = sealpost.transparency_log.consistency(old_size, size)?;
        let body = AddCheckpoint { old_size, proof, checkpoint: checkpoint.clone() }.to_string();
        let url = format!("{}/add-checkpoint", self.url.trim_end_matches('/'));
        let mut response = client.post(url).send(body.as_bytes())?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_string()?;
        Ok((status, body))
    }
}

/// Pause between two rounds of requests to the witnesses.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum time for one request. [`PERIOD`] and this time together are less than six seconds, because an API request
/// for evidence waits six seconds for a cosignature.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum size of a response body in bytes. A cosignature of ML-DSA-44 has 3.3 KB.
const BODY_BYTES_MAX: u64 = 16_384;
const CONFLICT: u16 = 409;
const OK: u16 = 200;
