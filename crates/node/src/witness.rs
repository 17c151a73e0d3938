//! A witness: an HTTP server that cosigns the checkpoints of transparency logs (tlog-witness). It needs no database and
//! no service.

mod state;

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
    time::Duration,
};

use actix_web::{App, HttpResponse, HttpServer, dev::ServerHandle, http::StatusCode, web};
use parking_lot::Mutex;
use sealpost_domain::Clock as _;
use sealpost_transparency::{AddCheckpoint, Note, VerifierKey, WitnessRefusal};
use tokio::time::timeout;

use self::state::WitnessState;
use crate::{clock::SystemClock, error::NodeError};

/// A bound witness that accepts no requests yet.
pub struct Witness {
    socket: TcpListener,
    address: SocketAddr,
    server: Arc<WitnessServer>,
}

/// A witness that accepts requests. Call [`stop`](Self::stop) to end it.
pub struct RunningWitness(ServerHandle);

struct WitnessServer {
    logs: Vec<VerifierKey>,
    /// Each request holds the lock from the check against the last checkpoint until the new checkpoint is stored.
    /// Otherwise two concurrent requests could both pass the check, and the witness would cosign two different trees.
    state: Mutex<WitnessState>,
}

impl Witness {
    /// Opens the folder of the witness, and creates its keys at the first start. Binds the address. Fails if another
    /// process is a witness with this folder.
    pub fn bind(
        name: &str,
        folder: &Path,
        listen: SocketAddr,
        logs: Vec<VerifierKey>,
    ) -> Result<Self, NodeError> {
        let state = Mutex::new(WitnessState::open(name, folder)?);
        let bound = TcpListener::bind(listen)
            .and_then(|socket| socket.local_addr().map(|address| (socket, address)));
        let (socket, address) = bound.map_err(|error| {
            NodeError::caused(
                format!("the address {listen} cannot be used: choose another one"),
                error,
            )
        })?;
        Ok(Self { socket, address, server: Arc::new(WitnessServer { logs, state }) })
    }

    /// Returns the bound address, with the selected port if the given one was 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the public keys of the witness, for the policies of verifiers: Ed25519 and ML-DSA-44.
    pub fn keys(&self) -> Vec<VerifierKey> {
        let state = self.server.state.lock();
        state.keys().iter().map(|key| key.public().clone()).collect()
    }

    /// Starts to accept requests on the current actix system, with one worker thread and at most 256 connections.
    pub fn start(self) -> Result<RunningWitness, NodeError> {
        let Self { socket, server, .. } = self;
        let app = move || {
            let server = Arc::clone(&server);
            let add = web::post().to(move |body: web::Payload| {
                let server = Arc::clone(&server);
                async move { add_checkpoint(server, body).await }
            });
            App::new().service(web::resource("/add-checkpoint").route(add))
        };
        let server = HttpServer::new(app)
            .workers(1)
            .max_connections(CONNECTIONS_MAX)
            .client_request_timeout(REQUEST_MAX)
            .disable_signals()
            .listen(socket)
            .map_err(|error| NodeError::caused("the witness cannot start", error))?
            .run();
        let handle = server.handle();
        actix_rt::spawn(server);
        Ok(RunningWitness(handle))
    }
}

impl RunningWitness {
    /// Stops accepting requests, and waits for those in flight.
    pub async fn stop(&self) {
        self.0.stop(true).await;
    }
}

async fn add_checkpoint(server: Arc<WitnessServer>, body: web::Payload) -> HttpResponse {
    let bad = |reason: &'static str| HttpResponse::BadRequest().body(reason);
    let body = match timeout(REQUEST_MAX, body.to_bytes_limited(BODY_BYTES_MAX)).await {
        Ok(Ok(Ok(body))) => body,
        Ok(Ok(Err(_broken))) => return bad("the body cannot be read\n"),
        Ok(Err(_too_long)) => return HttpResponse::PayloadTooLarge().finish(),
        Err(_elapsed) => return HttpResponse::RequestTimeout().finish(),
    };
    let Ok(body) = String::from_utf8(body.to_vec()) else { return bad("the body is not UTF-8\n") };
    match web::block(move || server.cosign(&body)).await {
        Ok(Ok(lines)) => HttpResponse::Ok().content_type(TEXT).body(lines),
        Ok(Err(refusal)) => refusal.response(),
        Err(_stopping) => HttpResponse::ServiceUnavailable().finish(),
    }
}

/// The reason why a request is refused.
enum Refused {
    Rule(WitnessRefusal),
    /// The cosigned checkpoint could not be stored.
    State(NodeError),
}

impl WitnessServer {
    /// Checks a request, stores its checkpoint, and returns the lines of the cosignatures.
    fn cosign(&self, body: &str) -> Result<String, Refused> {
        let request = AddCheckpoint::parse(body).map_err(Refused::Rule)?;
        let state = self.state.lock();
        let mut failed = None;
        let checked = request.check(&self.logs, |origin| {
            state.last(origin).unwrap_or_else(|error| {
                failed = Some(error);
                None
            })
        });
        if let Some(error) = failed {
            return Err(Refused::State(error));
        }
        let checkpoint = checked.map_err(Refused::Rule)?;
        let now_s = u64::try_from(SystemClock.now().as_seconds()).unwrap_or(0);
        let note = &request.checkpoint;
        let cosigned = state.keys().iter().map(|key| key.cosign(note.text(), now_s));
        let lines: Vec<_> = cosigned.collect::<Result<_, _>>().map_err(Refused::Rule)?;
        let body: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
        // Keeps only the signature of the log, because anyone can add signatures of other keys to a checkpoint.
        let log = self.logs.iter().find(|log| log.name() == checkpoint.origin);
        let mut kept = log.map_or_else(
            || Note::new(note.text().to_owned(), Vec::new()),
            |log| note.signed_only_by(log),
        );
        for line in lines {
            kept.add(line);
        }
        // Stores the checkpoint on the disk before its signatures leave the process. After a crash, the witness still
        // knows which checkpoint it has cosigned last.
        state.store(&checkpoint.origin, &kept).map_err(Refused::State)?;
        Ok(body.concat())
    }
}

impl Refused {
    fn response(self) -> HttpResponse {
        match self {
            Self::Rule(refusal) => {
                match &refusal {
                    WitnessRefusal::TwoTrees(_) => {
                        tracing::error!(%refusal, "a log has rewritten its history");
                    }
                    // Any client can send a signed checkpoint of the log with a wrong proof.
                    WitnessRefusal::Fork(_) => tracing::warn!(
                        %refusal,
                        "a proof is wrong, or its log has changed old entries"
                    ),
                    _ => {}
                }
                let status = match &refusal {
                    WitnessRefusal::Form(_) => StatusCode::BAD_REQUEST,
                    WitnessRefusal::UnknownLog(_) => StatusCode::NOT_FOUND,
                    WitnessRefusal::Unsigned => StatusCode::FORBIDDEN,
                    WitnessRefusal::Fork(_) => StatusCode::UNPROCESSABLE_ENTITY,
                    WitnessRefusal::TwoTrees(_) => StatusCode::CONFLICT,
                    WitnessRefusal::OldSize(size) => {
                        let size_type = "text/x.tlog.size";
                        return HttpResponse::Conflict()
                            .content_type(size_type)
                            .body(format!("{size}\n"));
                    }
                };
                HttpResponse::build(status).content_type(TEXT).body(format!("{refusal}\n"))
            }
            Self::State(error) => {
                tracing::error!(error = error.with_causes(), "a checkpoint cannot be stored");
                HttpResponse::ServiceUnavailable().finish()
            }
        }
    }
}

const TEXT: &str = "text/plain; charset=utf-8";
const CONNECTIONS_MAX: usize = 256;
const REQUEST_MAX: Duration = Duration::from_secs(10);
const BODY_BYTES_MAX: usize = 65_536;
