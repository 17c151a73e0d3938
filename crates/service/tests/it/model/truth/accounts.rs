//! Predicts the results of activations, logins and logouts.

use serde_json::{Value, json};

use super::{
    super::usage::{Terms, Used, time},
    Account, KEYS_MAX, Key, LABEL, Refused, SESSION_MS, Session, Shown, Truth, UNAUTHORIZED,
};

impl Truth {
    /// Adds a session that the service has created.
    pub(in super::super) fn begin_session(&mut self, account: usize, token: String) {
        let expires_at = self.now + SESSION_MS;
        self.sessions.push(Session { token, account, expires_at, ended: false });
    }

    pub(in super::super) fn login(
        &self,
        account: usize,
        secret: Option<(usize, usize)>,
    ) -> Result<Value, Refused> {
        let current = (account, self.accounts[account].secrets.len() - 1);
        if secret != Some(current) {
            return Err(UNAUTHORIZED);
        }
        Ok(json!({
            "token_type": "Bearer",
            "expires_at": time(self.now + SESSION_MS),
            "account_id": self.accounts[account].id,
        }))
    }

    pub(in super::super) fn logout_here(&mut self, shown: Shown) -> Result<(), Refused> {
        self.authenticate(shown)?;
        self.end(shown);
        Ok(())
    }

    pub(in super::super) fn logout_everywhere(&mut self, shown: Shown) -> Result<(), Refused> {
        let account = self.authenticate(shown)?;
        self.sessions
            .iter_mut()
            .filter(|session| session.account == account)
            .for_each(|session| session.ended = true);
        self.end(shown);
        Ok(())
    }

    fn end(&mut self, shown: Shown) {
        if let Shown::Session(session) = shown {
            self.sessions[session].ended = true;
        }
    }

    pub(in super::super) fn rotate_secret(&self, shown: Shown) -> Result<usize, Refused> {
        self.authenticate(shown)
    }

    /// Returns the newest login secret of an account.
    pub(in super::super) fn newest_secret(&self, account: usize) -> &str {
        self.accounts[account].secrets.last().map_or("", String::as_str)
    }

    /// Predicts an activation: returns the index of the account and the response. The index is `None` for a new
    /// account.
    pub(in super::super) fn activate(
        &self,
        shown: Shown,
        handle: Option<&'static str>,
        fault: Option<Refused>,
    ) -> Result<(Option<usize>, Value), Refused> {
        let account = match shown {
            Shown::Absent => None,
            shown => Some(self.authenticate(shown)?),
        };
        if let Some(fault) = fault {
            return Err(fault);
        }
        if let Some(account) = account {
            let lives = |key: &&Key| key.account == account && key.status != "revoked";
            if self.keys.iter().filter(lives).count() >= KEYS_MAX {
                return Err(Refused::new("QUOTA_EXCEEDED"));
            }
        }
        if let Some(owner) = handle.and_then(|handle| self.handles.get(handle)) {
            let owner = &self.keys[*owner];
            if Some(owner.account) != account || owner.status != "revoked" {
                return Err(Refused::of("HANDLE_TAKEN", "handle"));
            }
        }
        let mut answer = json!({
            "label": LABEL,
            "handle": handle,
            "status": "active",
            "plan": "explorer",
            "created_at": time(self.now),
        });
        if let Some(account) = account {
            answer["account_id"] = json!(self.accounts[account].id);
        }
        Ok((account, answer))
    }

    /// Adds an account that the service has created, and returns its index.
    pub(in super::super) fn open_account(&mut self, id: String, secret: String) -> usize {
        self.accounts.push(Account { id, secrets: vec![secret], partner: None, council: None });
        self.accounts.len() - 1
    }

    /// Adds a key that the service has created.
    pub(in super::super) fn add_key(
        &mut self,
        account: usize,
        handle: Option<&'static str>,
        (id, did): (String, String),
    ) {
        if let Some(handle) = handle {
            self.handles.insert(handle, self.keys.len());
        }
        self.keys.push(Key {
            id,
            account,
            did,
            handle,
            created_at: self.now,
            status: "active",
            plan: "explorer",
            terms: Terms::EXPLORER,
            used: Used::default(),
            council: None,
            webhooks: Vec::new(),
        });
    }
}
