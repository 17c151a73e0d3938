//! Runs activations, logins, logouts and replacements of login secrets.

use sealpost_domain::{Handle, Label};
use sealpost_service::{Activate, Login, Scope};
use serde_json::json;

use super::{
    super::{
        op::{Body, Everywhere, Holder, Pick, Secret},
        truth::LABEL,
    },
    Checked, Run,
    compare::{fault, same, shown, text, without},
};

impl Run {
    pub(super) fn activate(&mut self, who: Holder, handle: Option<Pick>, body: Body) -> Checked {
        let who = self.holder(who)?;
        let handle = handle.and_then(|pick| pick.of(HANDLES.len())).map(|at| HANDLES[at]);
        let asked = Activate {
            label: Label::parse(LABEL).unwrap(),
            handle: handle.map(|handle| Handle::parse(handle).unwrap()),
            invite: None,
        };
        let fault = fault(body);
        let asked = fault.as_ref().map_or(Ok(asked), |(refusal, _)| Err(refusal.clone()));
        let expected = self.truth.activate(who, handle, fault.map(|(_, refused)| refused));
        let got = shown(self.world.sealpost.activate(self.token(who).as_deref(), asked));
        let (account, expected) = match expected {
            Ok((account, answer)) => (account, Ok(answer)),
            Err(refused) => (None, Err(refused)),
        };
        let fresh: &[&[&str]] = match account {
            None => {
                &[&["api_key_id"], &["did"], &["account_id"], &["login_secret"], &["recovery_code"]]
            }
            Some(_) => &[&["api_key_id"], &["did"]],
        };
        same("activation", &expected, &without(got.clone(), fresh))?;
        let Ok(got) = got else { return Ok(()) };
        let account = match account {
            Some(account) => account,
            None => self.truth.open_account(
                text(&got, "account_id", "acct_")?,
                text(&got, "login_secret", "ls_")?,
            ),
        };
        let key = (text(&got, "api_key_id", "ak_")?, text(&got, "did", "did:key:z")?);
        self.truth.add_key(account, handle, key);
        Ok(())
    }

    pub(super) fn login(&mut self, account: Pick, secret: Secret) -> Checked {
        let accounts = self.truth.accounts.len();
        let account = account.of(accounts).unwrap();
        let last_of = |account: usize| self.truth.accounts[account].secrets.len() - 1;
        let secret = match secret {
            Secret::Current => Some((account, last_of(account))),
            Secret::Former => last_of(account).checked_sub(1).map(|former| (account, former)),
            Secret::Malformed => None,
            Secret::Others => {
                let other = (account + 1) % accounts;
                Some((other, last_of(other)))
            }
        };
        self.login_with(account, secret)
    }

    /// Logs in to `account`. `secret` is the number of an account and the index in the history of its secrets. `None`
    /// is a malformed secret.
    pub(super) fn login_with(&mut self, account: usize, secret: Option<(usize, usize)>) -> Checked {
        let login_secret = match secret {
            Some((of, at)) => self.truth.accounts[of].secrets[at].clone(),
            None => "ls_nonsense".to_owned(),
        };
        let account_id = self.truth.accounts[account].id.clone();
        let got = shown(self.world.sealpost.login(&Login {
            account_id,
            login_secret,
            on_dashboard: true,
        }));
        let expected = self.truth.login(account, secret);
        same("login", &expected, &without(got.clone(), &[&["session_token"]]))?;
        if let Ok(got) = got {
            self.truth.begin_session(account, text(&got, "session_token", "st_")?);
        }
        Ok(())
    }

    pub(super) fn logout(&mut self, who: Holder, everywhere: Everywhere) -> Checked {
        let who = self.holder(who)?;
        let (scope, expected) = match everywhere {
            Everywhere::No => (Scope::Session, self.truth.logout_here(who)),
            Everywhere::Yes => (Scope::Account, self.truth.logout_everywhere(who)),
        };
        let got = shown(self.world.sealpost.logout(self.token(who).as_deref(), Ok(scope)));
        same("logout", &expected, &got.map(drop))
    }

    pub(super) fn rotate_secret(&mut self, who: Holder) -> Checked {
        let who = self.holder(who)?;
        let account = self.truth.rotate_secret(who);
        let secret = account.as_ref().map_or("", |at| self.truth.newest_secret(*at)).to_owned();
        let token = self.token(who);
        let got = shown(self.world.sealpost.rotate_login_secret(token.as_deref(), Ok(secret)));
        let expected = account.clone().map(|at| json!({"account_id": self.truth.accounts[at].id}));
        same(
            "new secret",
            &expected,
            &without(got.clone(), &[&["login_secret"], &["recovery_code"]]),
        )?;
        if let (Ok(account), Ok(got)) = (account, got) {
            self.truth.accounts[account].secrets.push(text(&got, "login_secret", "ls_")?);
        }
        Ok(())
    }
}

pub(super) const HANDLES: [&str; 2] = ["ada", "bob-1"];
