//! `sealpost mcp`: the tools of an agent, as the identity of a profile.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use sealpost_client::Activated;
use sealpost_mcp::{
    Agent, AgentOptions, HttpOptions, HttpServer, IdentityStore, StoreError, ToolName, serve_stdio,
};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::{FINISH_MAX, stop_signal, store_token};
use crate::{
    cli::McpArgs,
    error::ShellError,
    output,
    profile::{Profile, ProfileFile, Secret, read_private},
};

/// Serves the tools on standard input and output, or over HTTP, until a signal arrives or the client closes standard
/// input. Then stores the newest session token in the profile, unless another command has changed the profile.
pub(super) async fn run(args: McpArgs, config_folder: &Path) -> Result<(), ShellError> {
    let file = || ProfileFile::named(config_folder, &args.profile.profile);
    let (url, identity, before) = match (file()?.load(), &args.url) {
        (Err(ShellError::NoProfile(_)), Some(url)) => (url.clone(), None, None),
        (Err(error), _) => return Err(error),
        (Ok(profile), Some(url)) if !is_same(&profile.url, url) => {
            let advice = "choose another name with --profile, or omit --url";
            let message =
                format!("the profile {} is for {}: {advice}", args.profile.profile, profile.url);
            return Err(ShellError::Invalid(message));
        }
        (Ok(profile), _) => (profile.url.clone(), Some(profile.client()?), Some(profile)),
    };
    let all = || ToolName::ALL.into_iter().collect();
    let tools =
        if args.allowed.is_empty() { all() } else { args.allowed.iter().copied().collect() };
    let created = Arc::<OnceLock<_>>::default();
    let new = NewProfile { file: file()?, url: url.clone(), created: Arc::clone(&created) };
    let store = Box::new(new);
    let agent = Agent::new(AgentOptions { url, identity, store, tools });
    serve(&args, agent.clone()).await?;
    // `agent.token` waits until a running activation ends. Without this wait, the secrets of the new account could be
    // lost.
    let token = timeout(FINISH_MAX, agent.token()).await;
    if let (Ok(token), Some(before)) = (token, before.as_ref().or(created.get())) {
        store_token(&file()?, before, token.map(Secret));
    }
    Ok(())
}

async fn serve(args: &McpArgs, agent: Agent) -> Result<(), ShellError> {
    let stop = stop_signal()?;
    let Some(listen) = args.listen else {
        return Ok(serve_stdio(agent, stop).await?);
    };
    let token = args.token_file.as_deref().map(token).transpose()?;
    let public_host = args.public_host.clone();
    let server = HttpServer::bind(HttpOptions { listen, token, public_host }).await?;
    let address = server.address().map_err(ShellError::Output)?;
    output::line(&format!("sealpost mcp listening on http://{address}/mcp"))?;
    server.serve(agent, stop).await;
    Ok(())
}

/// Reads the token that HTTP requests must carry. Fails if other users can access the file, if the token is shorter
/// than 32 characters, or if it contains other characters than printable ASCII.
fn token(file: &Path) -> Result<Zeroizing<String>, ShellError> {
    let text = read_private(file, "give the path of a text file")?;
    let token = text.trim();
    if token.len() < TOKEN_LENGTH_MIN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = format!(
            "{} has no token of at least {TOKEN_LENGTH_MIN} characters: write the output of openssl rand -hex 32 into it",
            file.display()
        );
        return Err(ShellError::Invalid(message));
    }
    Ok(Zeroizing::new(token.to_owned()))
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// Writes the identity that the agent activates into the [profile](Profile) of the command.
struct NewProfile {
    file: ProfileFile,
    url: String,
    /// The written profile. Empty before the activation, and if the profile cannot be written.
    created: Arc<OnceLock<Profile>>,
}

impl IdentityStore for NewProfile {
    fn check(&self) -> Result<(), StoreError> {
        Ok(self.file.refuse_existing()?)
    }

    fn store(&self, activated: &Activated) -> Result<(), StoreError> {
        let secret = |text: &Option<String>| text.clone().map(|text| Secret(Zeroizing::new(text)));
        let profile = Profile {
            url: self.url.clone(),
            account_id: Some(activated.account_id),
            api_key_id: Some(activated.api_key_id),
            login_secret: secret(&activated.login_secret),
            token: None,
            recovery_code: secret(&activated.recovery_code),
        };
        self.file.create(&profile)?;
        // `created` is still empty here, because `create` succeeds only once.
        drop(self.created.set(profile));
        Ok(())
    }
}

const TOKEN_LENGTH_MIN: usize = 32;
