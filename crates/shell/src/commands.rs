//! Runs the commands that call a service.

mod keys;
mod login;
mod mcp;
mod messages;
mod tokens;
mod watch;
mod webhooks;

use std::{ffi::OsString, path::Path, time::Duration};

use sealpost_client::Client;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{
    cli::{ProfileArgs, ServiceCommand},
    error::ShellError,
    output,
    profile::{Profile, ProfileFile, Secret, config_folder},
};

/// Runs one command. `variable` reads environment variables, which determine the folder of the profiles.
pub fn run(
    command: ServiceCommand,
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> Result<(), ShellError> {
    let config_folder = &config_folder(variable)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ShellError::Runtime)?;
    let done = runtime.block_on(async {
        match command {
            ServiceCommand::Evidence(args) => messages::evidence(&args, config_folder).await,
            ServiceCommand::Keys(command) => keys::run(command, config_folder).await,
            ServiceCommand::Login(args) => login::run(args, config_folder).await,
            ServiceCommand::Mcp(args) => mcp::run(args, config_folder).await,
            ServiceCommand::Open(args) => messages::open(&args, config_folder).await,
            ServiceCommand::Send(args) => messages::send(&args, config_folder).await,
            ServiceCommand::Sent(args) => messages::sent(args, config_folder).await,
            ServiceCommand::Tokens(command) => tokens::run(command, config_folder).await,
            ServiceCommand::Watch(args) => watch::run(&args, config_folder).await,
            ServiceCommand::Webhooks(command) => webhooks::run(command, config_folder).await,
        }
    });
    // After a signal, a thread can still be blocked in a read of standard input. The shutdown does not wait for this
    // thread.
    runtime.shutdown_background();
    done
}

/// Listens for SIGINT, SIGQUIT and SIGTERM from now on. The returned future is ready after the first of these signals.
fn stop_signal() -> Result<impl Future<Output = ()>, ShellError> {
    let listen = |kind| signal(kind).map_err(ShellError::Runtime);
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut quit = listen(SignalKind::quit())?;
    let mut terminate = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// The client of a profile for one command. A profile is the stored service, identity and secrets of the user.
///
/// Call [`store_session`](Self::store_session) at the end of the command, after the result is printed. So the result is
/// not lost if the profile cannot be written.
pub struct ProfileClient {
    /// The client of the profile's identity.
    pub client: Client,
    file: ProfileFile,
    profile: Profile,
}

impl ProfileClient {
    pub(crate) fn open(profile: &ProfileArgs, config_folder: &Path) -> Result<Self, ShellError> {
        let file = ProfileFile::named(config_folder, &profile.profile)?;
        let profile = file.load()?;
        Ok(Self { client: profile.client()?, file, profile })
    }

    /// Stores a new session token in the profile, so that the next command does not log in again. Writes nothing if the
    /// token is unchanged, or if another command has changed the profile meanwhile. If the write fails, only prints a
    /// warning, because the command itself has succeeded.
    pub async fn store_session(self) {
        let token = self.client.token().await.map(Secret);
        store_token(&self.file, &self.profile, token);
    }
}

/// Stores the token of a profile. `before` is the profile that the command has read or created. Writes nothing if the
/// token is unchanged, or if the stored profile differs from `before`. If the write fails, only prints a warning.
fn store_token(file: &ProfileFile, before: &Profile, token: Option<Secret>) {
    if before.token == token {
        return;
    }
    let stored = match file.load() {
        Ok(profile) if *before != profile => Ok(()),
        Ok(profile) => file.save(&Profile { token, ..profile }),
        Err(ShellError::NoProfile(_)) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = stored {
        output::warn("the next command logs in again", &error);
    }
}

/// Maximum time after a signal to wait for the response to a sent request, and to store this response.
const FINISH_MAX: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    #[tokio::test]
    async fn a_session_is_stored_unless_another_command_changed_the_profile() {
        let folder = tempfile::tempdir().unwrap();
        let file = || ProfileFile::named(folder.path(), "default").unwrap();
        let with_token = |token: Option<&str>| Profile {
            url: "http://127.0.0.1:1".to_owned(),
            token: token.map(|token| Secret(Zeroizing::new(token.to_owned()))),
            ..Profile::default()
        };
        let after_a_new_session = || ProfileClient {
            client: with_token(Some("st_new")).client().unwrap(),
            file: file(),
            profile: with_token(None),
        };
        for (stored, expected) in [(None, "st_new"), (Some("kt_other"), "kt_other")] {
            file().save(&with_token(stored)).unwrap();
            after_a_new_session().store_session().await;
            assert_eq!(file().load().unwrap(), with_token(Some(expected)));
        }
    }
}
