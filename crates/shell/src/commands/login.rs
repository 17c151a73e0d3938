//! `sealpost login`: stores a profile after a first call of the service.

use std::path::Path;

use sealpost_client::{Client, Code};
use serde_json::json;
use zeroize::Zeroizing;

use crate::{
    cli::LoginArgs,
    error::ShellError,
    input, output,
    profile::{Profile, ProfileFile, Secret},
};

pub(super) async fn run(args: LoginArgs, config_folder: &Path) -> Result<(), ShellError> {
    let file = ProfileFile::named(config_folder, &args.call.profile.profile)?;
    let mut profile = match &args.new {
        Some(label) => activated(&args, label).await?,
        None => given(&args)?,
    };
    if args.new.is_some() {
        // Stored before any other call, because the login secret is shown only once.
        file.save(&profile)?;
    }
    let client = profile.client()?;
    let standing = match client.status().await {
        // The token is valid, but cannot read the status.
        Err(error) if error.code() == Some(Code::InsufficientScope) => {
            file.save(&profile)?;
            let stored = json!({"profile": file.path().display().to_string()});
            return output::result(&stored, args.call.json);
        }
        standing => standing?,
    };
    profile.api_key_id = Some(standing.api_key_id);
    profile.token = client.token().await.map(Secret);
    file.save(&profile)?;
    if args.call.json {
        let stored = json!({
            "profile": file.path().display().to_string(),
            "api_key_id": standing.api_key_id,
            "handle": standing.handle,
        });
        return output::result(&stored, true);
    }
    let name = standing.handle.unwrap_or(standing.label);
    output::line(&format!(
        "logged in as {name} ({}); the profile is {}",
        standing.api_key_id,
        file.path().display()
    ))
}

/// Activates a new identity in a new account.
async fn activated(args: &LoginArgs, label: &str) -> Result<Profile, ShellError> {
    let invite = if args.invite { Some(input::secret("invite")?) } else { None };
    let invite = invite.as_ref().map(|invite| invite.as_str());
    let client = Client::builder(&args.url).build()?;
    let activated = client.activate(label, args.handle.as_deref(), invite).await?;
    Ok(Profile {
        url: args.url.clone(),
        account_id: Some(activated.account_id),
        api_key_id: Some(activated.api_key_id),
        login_secret: activated.login_secret.map(|secret| Secret(Zeroizing::new(secret))),
        token: None,
    })
}

/// Creates the profile of an existing identity.
fn given(args: &LoginArgs) -> Result<Profile, ShellError> {
    let secret = Secret(input::secret("login secret or API token")?);
    let profile = Profile {
        url: args.url.clone(),
        account_id: args.account,
        api_key_id: args.api_key,
        login_secret: None,
        token: None,
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
