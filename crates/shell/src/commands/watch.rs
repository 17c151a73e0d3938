//! `sealpost watch`: checks the API key of the profile in the transparency log, and that the log only grows.
//!
//! The state file has the proof of the last check: the statement about the key, and the checkpoint (size and root hash)
//! of the log. The next check compares its own proof with both.

use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fmt, fs, io,
    path::Path,
    time::Duration,
};

use sealpost_client::{Client, KeyStanding, RetryPolicy};
use sealpost_domain::Clock as _;
use sealpost_receiver::SystemClock;
use sealpost_transparency::{
    Checkpoint, LogProof, Policy, Statement, Tile, TileTree, TreeHash, verify_consistency,
};

use super::ProfileClient;
use crate::{cli::WatchArgs, error::ShellError, output, profile::replace_private};

/// The text and the parsed content of a proof file.
struct Proof {
    text: String,
    file: LogProof,
    statement: Statement,
    checkpoint: Checkpoint,
}

pub(super) async fn run(args: &WatchArgs, config_folder: &Path) -> Result<(), ShellError> {
    let policy = fs::read_to_string(&args.policy);
    let policy = policy.map_err(ShellError::for_file(&args.policy, "read"))?;
    let policy = Policy::parse(&policy).map_err(invalid)?;
    let before = last_proof(&args.state)?;
    let mut service = ProfileClient::open(&args.call.profile, config_folder)?;
    let retry = RetryPolicy { tries: REQUEST_TRIES, ..RetryPolicy::default() };
    service.client = service.profile.client_builder().retry(retry).build()?;
    let (standing, proof) = proven(&service.client).await?;
    let now_s = u64::try_from(SystemClock.now().as_seconds()).unwrap_or(0);
    policy.accept(&proof.file, &proof.statement.entry(), now_s).map_err(invalid)?;
    require_same(&standing, &proof.statement)?;
    if let Some(before) = &before {
        require_growth(&service.client, &before.checkpoint, &proof.checkpoint).await?;
    }
    output::result(&proof.statement.values().collect::<BTreeMap<_, _>>(), args.call.json)?;
    service.store_session().await;
    // Replaces the state file only after all checks and the output have succeeded. If a step fails, the next run
    // compares with the old state, and reports the same change.
    let written = replace_private(&args.state, proof.text.as_bytes());
    let written = written.map_err(ShellError::for_file(&args.state, "written"));
    // Each change of the key appends an entry to the log, even if a later change undoes this change. So another entry
    // number means that the key was changed.
    let Some(before) = before.filter(|before| before.file.index != proof.file.index) else {
        return written;
    };
    if let Err(error) = &written {
        output::warn("the next check reports this change again", error);
    }
    Err(changed(&before.statement.text, &proof.statement.text))
}

/// Reads the proof of the last check. Returns `None` if there is no state file.
fn last_proof(state: &Path) -> Result<Option<Proof>, ShellError> {
    let damaged = |reason: &dyn fmt::Display| {
        let file = state.display();
        invalid(format!("{file} is damaged: restore it, or delete it to begin again: {reason}"))
    };
    match fs::read_to_string(state) {
        Ok(text) => Proof::read(text).map(Some).map_err(|error| damaged(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // The content is not UTF-8.
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(damaged(&error)),
        Err(error) => Err(ShellError::for_file(state, "read")(error)),
    }
}

fn changed(before: &str, now: &str) -> ShellError {
    let how = if before == now {
        "was changed and changed back since the last check".to_owned()
    } else {
        let before = before.trim_end().replace('\n', ", ");
        format!("has changed since the last check, from: {before}")
    };
    ShellError::Invalid(format!("the key {how}. If this was not you, ask the operator"))
}

impl Proof {
    fn read(text: String) -> Result<Self, ShellError> {
        let file = LogProof::parse(&text).map_err(invalid)?;
        let statement = Statement::parse(&file.extra);
        let statement =
            statement.ok_or_else(|| invalid("the proof has no statement about a key"))?;
        let checkpoint = Checkpoint::parse(file.checkpoint.text()).map_err(invalid)?;
        Ok(Self { text, file, statement, checkpoint })
    }
}

/// Returns the status of the key with its proof. Asks again until the newest change of the key is in the log. Fails
/// after [`PROOF_TRIES`] requests without a proof.
async fn proven(client: &Client) -> Result<(KeyStanding, Proof), ShellError> {
    for number in 0..PROOF_TRIES {
        if number > 0 {
            tokio::time::sleep(PROOF_PAUSE).await;
        }
        let mut standing = client.proven_status().await?;
        if let Some(text) = standing.proof.take() {
            return Ok((standing, Proof::read(text)?));
        }
    }
    Err(invalid(
        "the service has no proof of the newest change of the key: try again, then ask the operator",
    ))
}

/// Fails if the response of the service differs from the statement in the log.
fn require_same(standing: &KeyStanding, statement: &Statement) -> Result<(), ShellError> {
    let shown = [
        ("key", standing.api_key_id.to_string()),
        ("did", standing.did.clone()),
        ("status", standing.status.as_str().to_owned()),
    ];
    for (name, shown) in shown {
        let logged = statement.value(name).unwrap_or_default();
        if logged != shown {
            return Err(invalid(format!(
                "the service shows the {name} {shown}, but the log has {logged}"
            )));
        }
    }
    Ok(())
}

/// Fails if the log does not begin with all entries of the earlier checkpoint.
async fn require_growth(
    client: &Client,
    old: &Checkpoint,
    new: &Checkpoint,
) -> Result<(), ShellError> {
    if old.origin != new.origin {
        return Err(invalid(format!(
            "the log is now {}, before it was {}",
            new.origin, old.origin
        )));
    }
    if old.size > new.size {
        return Err(invalid(format!(
            "the log has shrunk from {} to {} entries",
            old.size, new.size
        )));
    }
    let (root, proof) = consistency(client, old.size, new.size).await?;
    let (old, new) = ((old.size, old.root), (new.size, new.root));
    if root == new.1 && verify_consistency(old, new, &proof) {
        return Ok(());
    }
    Err(invalid("the history of the log was rewritten: keep the state file as evidence"))
}

/// Computes the root hash of the tree of `new_size` entries, and the proof that this tree begins with the tree of
/// `old_size` entries. Fetches the tiles that the computation needs. A tile is a file of the log with up to 256 hashes
/// of the tree.
async fn consistency(
    client: &Client,
    old_size: u64,
    new_size: u64,
) -> Result<(TreeHash, Vec<TreeHash>), ShellError> {
    let mut tiles: HashMap<String, Vec<TreeHash>> = HashMap::new();
    loop {
        let mut tree = TileTree::new(new_size, |tile: Tile| {
            tiles.get(&tile.path()).cloned().ok_or(Missing::Tile(tile))
        });
        let computed = tree.root().and_then(|root| Ok((root, tree.consistency_proof(old_size)?)));
        match computed {
            Ok(computed) => return Ok(computed),
            Err(Missing::Other(reason)) => return Err(invalid(reason)),
            Err(Missing::Tile(tile)) if tiles.len() < TILES_MAX => {
                let path = tile.path();
                let bytes = client.log_tile(&path).await?;
                let (hashes, _) = bytes.as_chunks();
                tiles.insert(path, hashes.iter().map(|hash| TreeHash(*hash)).collect());
            }
            Err(Missing::Tile(_)) => return Err(invalid("the log needs too many tiles")),
        }
    }
}

/// The reason why a tree cannot be computed: a tile that must be fetched first, or another fault.
enum Missing {
    Other(String),
    Tile(Tile),
}

impl From<String> for Missing {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

fn invalid(reason: impl Into<Box<dyn Error>>) -> ShellError {
    ShellError::Invalid(reason.into().to_string())
}

/// Maximum number of tries of each request. Low, so that a failing service is reported soon.
const REQUEST_TRIES: u32 = 3;
/// Pause between two requests for the proof. After a change of the key, the service may need up to two seconds for the
/// proof. [`PROOF_TRIES`] requests with this pause take longer than that.
const PROOF_PAUSE: Duration = Duration::from_millis(500);
const PROOF_TRIES: u32 = 7;
/// Maximum number of tiles of the log to fetch. The root hash and the proof need the tiles on two paths from a leaf to
/// the root. Even in the largest tree, these are fewer.
const TILES_MAX: usize = 64;
