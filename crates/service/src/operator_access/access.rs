//! Verifies the credentials and sessions of operators.
//!
//! Sessions are signed tokens without a row in the database, so each node accepts them, also after a restart. The token
//! of an ended session is rejected only by the node that ended it, and only until this node restarts. So a copied token
//! can be valid until it expires. A new password ends all sessions of its operator permanently.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Mutex, RwLock};
use sealpost_domain::{Clock, Refusal, Timestamp, TokenHash};
use sealpost_wallet::{Keyring, keyed_hash, random, same_hash};
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use super::{
    credentials::{OperatorCredentials, SignedInOperator},
    password_file::{PasswordEntry, PasswordFile},
    session::{self, SessionClaims, SessionId},
};
use crate::{error::Error, sealpost::Sealpost};

/// The settings for the sign-in of operators.
#[derive(Debug, Clone, Copy)]
pub struct AccessSettings {
    /// Lifetime of a session.
    pub session_ttl: Duration,
    /// Maximum number of passwords that are verified at the same time. Each verification uses the memory that the
    /// password hash specifies, usually 19 MiB.
    pub verifications_max: usize,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self { session_ttl: Duration::from_hours(8), verifications_max: 2 }
    }
}

/// Verifies the credentials and sessions of operators against a password file.
pub struct OperatorAccess {
    settings: AccessSettings,
    file: RwLock<Arc<PasswordFile>>,
    keyring: Arc<Keyring>,
    clock: Arc<dyn Clock>,
    verifications: Arc<Semaphore>,
    /// The secret key of the keyed hashes in `verified`. Random for each process.
    cache_key: [u8; 32],
    /// For each operator name, the keyed hash of the credentials that were verified last. Has at most one entry for
    /// each operator of the password file.
    verified: Mutex<HashMap<String, TokenHash>>,
    /// Sessions that were ended on this node since its start, with their expiry.
    ended: Mutex<HashMap<SessionId, Timestamp>>,
}

/// A new session of an operator.
pub struct OperatorSession {
    /// The operator.
    pub operator: SignedInOperator,
    /// The session token, which is the secret value of the cookie.
    pub token: String,
}

impl Sealpost {
    /// Creates the verifier of the operators in `file`, with the keys and the clock of this service.
    pub fn operator_access(
        &self,
        file: PasswordFile,
        settings: AccessSettings,
    ) -> Result<OperatorAccess, Error> {
        Ok(OperatorAccess {
            settings,
            file: RwLock::new(Arc::new(file)),
            keyring: Arc::clone(&self.core.keyring),
            clock: Arc::clone(&self.core.clock),
            verifications: Arc::new(Semaphore::new(settings.verifications_max.max(1))),
            cache_key: random()?,
            verified: Mutex::default(),
            ended: Mutex::default(),
        })
    }
}

impl OperatorAccess {
    /// Replaces the password file and clears the cached credentials. Ends the sessions of operators whose line was
    /// changed or removed.
    pub fn use_file(&self, file: PasswordFile) {
        *self.file.write() = Arc::new(file);
        self.verified.lock().clear();
    }

    /// Returns the name in the credentials if the password file contains it.
    pub fn known_name(&self, credentials: &OperatorCredentials) -> Option<String> {
        Some(self.file().find(&credentials.name)?.name.clone())
    }

    /// Returns the operator if these credentials are cached as verified, and otherwise `None`. Takes microseconds.
    pub fn recall(&self, credentials: &OperatorCredentials) -> Option<SignedInOperator> {
        let file = self.file();
        let entry = file.find(&credentials.name)?;
        let hash = self.cache_hash(entry, credentials)?;
        let verified = self.verified.lock();
        let is_known = same_hash(verified.get(&entry.name)?, &hash);
        is_known.then(|| entry.operator())
    }

    /// Verifies credentials, which takes tens of milliseconds. Refuses an unknown name or a wrong password, both after
    /// the same time. Waits while too many other verifications run. Returns [`Refusal::Unavailable`] if the wait is too
    /// long.
    pub async fn verify(
        &self,
        credentials: OperatorCredentials,
    ) -> Result<SignedInOperator, Error> {
        let file = self.file();
        let (operator, _) = self.verify_in(&file, credentials).await?;
        Ok(operator)
    }

    /// Verifies credentials like [`verify`](Self::verify), and creates a session.
    pub async fn sign_in(
        &self,
        credentials: OperatorCredentials,
    ) -> Result<OperatorSession, Error> {
        let file = self.file();
        let (operator, index) = self.verify_in(&file, credentials).await?;
        let entry = file.entries.get(index).ok_or(WRONG)?;
        let expires_at = self.clock.now().plus(self.settings.session_ttl);
        let token = session::issue(&self.keyring, entry, expires_at)?;
        Ok(OperatorSession { operator, token })
    }

    /// Returns the operator of a session. Returns `None` if the session token is not authentic, or the session has
    /// ended.
    pub fn operator_of(&self, token: &str) -> Option<SignedInOperator> {
        let claims = SessionClaims::parse(token)?;
        let file = self.file();
        let entry = file.find(&claims.name)?;
        let ended = self.ended.lock();
        let is_live = claims.expires_at > self.clock.now() && !ended.contains_key(&claims.id);
        drop(ended);
        (is_live && claims.is_authentic(&self.keyring, entry)).then(|| entry.operator())
    }

    /// Ends an operator's session on this node. Other nodes accept the session token until the token expires, and so
    /// does this node after a restart.
    pub fn end_session(&self, token: &str) {
        if self.operator_of(token).is_none() {
            return;
        }
        let Some(claims) = SessionClaims::parse(token) else { return };
        let now = self.clock.now();
        let mut ended = self.ended.lock();
        // Removes expired sessions only if the map is full. If the clock is ahead for a moment, an ended session can
        // seem expired. Without its entry, the session would be valid again when the clock is correct.
        if ended.len() >= ENDED_MAX {
            ended.retain(|_, expires_at| *expires_at > now);
        }
        if ended.len() < ENDED_MAX {
            ended.insert(claims.id, claims.expires_at);
        }
    }

    /// Returns the CSRF token of a session, which every form of the session must contain. The CSRF token does not
    /// reveal the session token. Returns `None` for a malformed session token.
    pub fn form_token(&self, token: &str) -> Option<String> {
        session::form_token(token)
    }

    fn file(&self) -> Arc<PasswordFile> {
        Arc::clone(&self.file.read())
    }

    /// Verifies credentials. Returns the operator, and the index of the operator's entry in the password file.
    async fn verify_in(
        &self,
        file: &Arc<PasswordFile>,
        credentials: OperatorCredentials,
    ) -> Result<(SignedInOperator, usize), Error> {
        let waiting = Arc::clone(&self.verifications).acquire_owned();
        let permit = timeout(WAIT_MAX, waiting).await.map_err(|_late| Refusal::Unavailable)?;
        let permit = permit.map_err(|_closed| Error::Lost)?;
        let entries = Arc::clone(file);
        let verify = move || {
            let _permit = permit;
            let index = entries.position(&credentials.name);
            // For an unknown name, the password is verified against the first hash, so that the duration does not
            // reveal if the name exists.
            let entry = entries.entries.get(index.unwrap_or(0))?;
            let is_right = entry.hash.matches(&credentials.password);
            index.filter(|_| is_right).map(|index| (index, credentials))
        };
        let verified = spawn_blocking(verify).await.map_err(|_panicked| Error::Lost)?;
        let (index, credentials) = verified.ok_or(WRONG)?;
        let entry = file.entries.get(index).ok_or(WRONG)?;
        if let Some(hash) = self.cache_hash(entry, &credentials) {
            let mut verified = self.verified.lock();
            verified.insert(entry.name.clone(), hash);
        }
        Ok((entry.operator(), index))
    }

    /// Returns the keyed hash of credentials, which is cached after their verification. The hash covers the password
    /// hash in the file. A change of the password hash therefore makes the cached hash invalid, and the credentials are
    /// verified again.
    fn cache_hash(
        &self,
        entry: &PasswordEntry,
        credentials: &OperatorCredentials,
    ) -> Option<TokenHash> {
        let (phc, password) = (entry.hash.expose().as_bytes(), credentials.password.as_bytes());
        let parts: [&[u8]; 3] = [entry.name.as_bytes(), phc, password];
        keyed_hash(&self.cache_key, &parts).ok().map(TokenHash)
    }
}

impl PasswordFile {
    fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }

    fn find(&self, name: &str) -> Option<&PasswordEntry> {
        self.entries.get(self.position(name)?)
    }
}

impl PasswordEntry {
    fn operator(&self) -> SignedInOperator {
        SignedInOperator { name: self.name.clone(), role: self.role }
    }
}

const WRONG: Refusal = Refusal::Unauthorized(
    "the name or the password is wrong; send Bearer and the base64 of NAME:PASSWORD",
);
/// Maximum time for which a sign-in waits for other sign-ins.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// Maximum number of ended sessions that a node keeps in memory. Above this number, ending a session has no effect. An
/// attacker cannot cause this, because only operators can end sessions.
const ENDED_MAX: usize = 10_000;
