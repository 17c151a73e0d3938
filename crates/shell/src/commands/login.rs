//! `sealpost login`: stores a profile after a first call of the service.

use std::{path::Path, pin::pin, time::Duration};

use sealpost_client::{AccountId, ApiKeyId, Client, Code};
use serde::Serialize;
use serde_json::json;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::{FINISH_MAX, stop_signal};
use crate::{
    cli::LoginArgs,
    error::ShellError,
    input, output,
    profile::{Profile, ProfileFile, Secret},
};

pub(super) async fn run(args: LoginArgs, config_folder: &Path) -> Result<(), ShellError> {
    let file = ProfileFile::named(config_folder, &args.call.profile.profile)?;
    file.refuse_other_account(args.account)?;
    let mut stop = pin!(stop_signal()?);
    let secret = tokio::select! {
        secret = read_secret(&args) => secret?,
        () = stop.as_mut() => return Err(ShellError::Interrupted),
    };
    let mut stored = pin!(async {
        match (&args.new, args.recover) {
            (Some(label), _) => activate(&args, label, &secret, &file).await,
            (None, true) => recover(&args, &secret, &file).await,
            (None, false) => log_in(&args, &secret, &file).await,
        }
    });
    tokio::select! {
        stored = stored.as_mut() => return stored,
        () = stop => {}
    }
    // The service may already have created or replaced the secrets. The command waits for the response, because without
    // the new secrets the account would be lost.
    let finish = if args.new.is_some() || args.recover { FINISH_MAX } else { Duration::ZERO };
    timeout(finish, stored).await.unwrap_or(Err(ShellError::Interrupted))
}

/// Reads the secret of a login from standard input. The secret is empty if an activation needs no invite.
async fn read_secret(args: &LoginArgs) -> Result<Zeroizing<String>, ShellError> {
    match (&args.new, args.recover) {
        (Some(_), _) if !args.invite => Ok(Zeroizing::default()),
        (Some(_), _) => input::secret("invite").await,
        (None, true) => input::secret("recovery code").await,
        (None, false) => input::secret("login secret or API token").await,
    }
}

/// The output of a login.
#[derive(Serialize)]
struct StoredProfile<'a> {
    profile: String,
    api_key_id: ApiKeyId,
    handle: Option<&'a str>,
    /// Id of the account; present only with a new recovery code.
    #[serde(skip_serializing_if = "Option::is_none")]
    account_id: Option<AccountId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_code: Option<&'a str>,
    /// The handle, or the label if there is no handle. `None` if the service returned neither.
    #[serde(skip)]
    name: Option<&'a str>,
}

impl StoredProfile<'_> {
    fn print(&self, json: bool) -> Result<(), ShellError> {
        if json {
            return output::result(self, true);
        }
        let Self { profile, api_key_id, .. } = self;
        match self.name {
            Some(name) => output::message(&format!(
                "logged in as {name} ({api_key_id}); the profile is {profile}"
            ))?,
            None => output::line(&format!("the profile is {profile}"))?,
        }
        let Some((account, code)) = self.account_id.zip(self.recovery_code) else { return Ok(()) };
        output::message(&format!(
            "recovery code of {account}: {code}\n\
             The profile does not contain this code. Store it elsewhere: it replaces a lost login secret."
        ))
    }
}

/// Logs in to an existing identity with the given secret, and stores its profile. The new profile replaces a stored
/// profile of the same name. If both are of the same account, the new profile keeps the secrets that only the stored
/// profile contains. The login itself uses only the given secret.
async fn log_in(args: &LoginArgs, secret: &str, file: &ProfileFile) -> Result<(), ShellError> {
    let mut profile = given_profile(args, secret)?;
    let client = profile.client()?;
    let standing = match client.status().await {
        // The token is valid, but its scopes do not allow this client to read the status.
        Err(error) if error.code() == Some(Code::InsufficientScope) => {
            store(profile, file)?;
            let profile = file.path().display().to_string();
            if args.call.json {
                return output::result(&json!({"profile": profile}), true);
            }
            return output::line(&format!("logged in with an API token; the profile is {profile}"));
        }
        standing => standing?,
    };
    if let Some(account) = args.account.filter(|account| *account != standing.account_id) {
        return Err(ShellError::Invalid(format!(
            "the token belongs to {}, not to {account}: change or omit --account",
            standing.account_id
        )));
    }
    profile.api_key_id = Some(standing.api_key_id);
    profile.token = client.token().await.map(Secret);
    store(profile, file)?;
    let stored = StoredProfile {
        profile: file.path().display().to_string(),
        api_key_id: standing.api_key_id,
        handle: standing.handle.as_deref(),
        account_id: None,
        recovery_code: None,
        name: Some(standing.handle.as_ref().unwrap_or(&standing.label)),
    };
    stored.print(args.call.json)
}

/// Stores the profile of a login, and keeps the other secrets of a stored profile of the same account. Reads these
/// secrets at the end of the login, because another process may have replaced them meanwhile.
fn store(mut profile: Profile, file: &ProfileFile) -> Result<(), ShellError> {
    if let Ok(stored) = file.load() {
        profile.keep_secrets(stored);
    }
    file.save_login(&profile)
}

/// Activates a new identity in a new account, and stores its profile.
async fn activate(
    args: &LoginArgs,
    label: &str,
    invite: &str,
    file: &ProfileFile,
) -> Result<(), ShellError> {
    let invite = args.invite.then_some(invite);
    let client = Client::builder(&args.url).build()?;
    let activated = client.activate(label, args.handle.as_deref(), invite).await?;
    let stored = StoredProfile {
        profile: file.path().display().to_string(),
        api_key_id: activated.api_key_id,
        handle: activated.handle.as_deref(),
        account_id: Some(activated.account_id),
        recovery_code: activated.recovery_code.as_deref(),
        name: Some(activated.handle.as_ref().unwrap_or(&activated.label)),
    };
    finish(args, activated.login_secret.as_deref(), &stored, &activated, file)
}

/// Replaces the login secret and the recovery code of an account. Needs the current recovery code. Stores the new login
/// secret in the profile.
async fn recover(args: &LoginArgs, code: &str, file: &ProfileFile) -> Result<(), ShellError> {
    let (Some(account_id), Some(api_key_id)) = (args.account, args.api_key) else {
        let advice = "--recover needs --account and --api-key";
        return Err(ShellError::Invalid(advice.to_owned()));
    };
    let client = Client::builder(&args.url).build()?;
    let secrets = client.recover(account_id, code).await?;
    let stored = StoredProfile {
        profile: file.path().display().to_string(),
        api_key_id,
        handle: None,
        account_id: Some(account_id),
        recovery_code: Some(&secrets.recovery_code),
        name: None,
    };
    finish(args, Some(&secrets.login_secret), &stored, &secrets, file)
}

/// Stores the profile with a new login secret, and prints the result. If the profile cannot be stored, prints the
/// `response` of the service with the secrets, because no later response shows them.
fn finish(
    args: &LoginArgs,
    secret: Option<&str>,
    stored: &StoredProfile<'_>,
    response: &impl Serialize,
    file: &ProfileFile,
) -> Result<(), ShellError> {
    let saved = file.save_login(&Profile {
        url: args.url.clone(),
        account_id: stored.account_id,
        api_key_id: Some(stored.api_key_id),
        login_secret: secret.map(|secret| Secret(Zeroizing::new(secret.to_owned()))),
        ..Profile::default()
    });
    if saved.is_err() {
        output::result(response, args.call.json)?;
    }
    saved?;
    stored.print(args.call.json)
}

/// Creates the profile of an existing identity from the arguments and the secret. Fails if the secret is a login
/// secret, and the account or the API key is not given.
fn given_profile(args: &LoginArgs, secret: &str) -> Result<Profile, ShellError> {
    let secret = Secret(Zeroizing::new(secret.to_owned()));
    let profile = Profile {
        url: args.url.clone(),
        account_id: args.account,
        api_key_id: args.api_key,
        ..Profile::default()
    };
    if secret.0.starts_with("kt_") {
        return Ok(Profile { token: Some(secret), ..profile });
    }
    if args.account.is_none() || args.api_key.is_none() {
        let advice =
            "a login secret needs --account and --api-key; or pass --new to activate an identity";
        return Err(ShellError::Invalid(advice.to_owned()));
    }
    Ok(Profile { login_secret: Some(secret), ..profile })
}
