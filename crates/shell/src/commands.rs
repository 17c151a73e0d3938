//! Runs the commands.

mod keys;
mod login;
mod mcp;
mod messages;
mod tokens;
mod watch;
mod webhooks;

use std::{ffi::OsString, path::Path};

use sealpost_client::Client;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{
    cli::{CallArgs, ServiceCommand},
    error::ShellError,
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
    // After a signal, a thread can still wait for standard input. The command ends without it.
    runtime.shutdown_background();
    done
}

/// Listens for SIGINT and SIGTERM from now on. The returned future is ready after the first of them.
fn stop_signal() -> Result<impl Future<Output = ()>, ShellError> {
    let listen = |kind| signal(kind).map_err(ShellError::Runtime);
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// The client of a [profile](Profile) (the stored service, identity and secrets of the user), for one command.
/// [`store_session`](Self::store_session) stores a new session in the profile at the end of the command.
struct ProfileClient {
    client: Client,
    file: ProfileFile,
    profile: Profile,
}

impl ProfileClient {
    fn open(call: &CallArgs, config_folder: &Path) -> Result<Self, ShellError> {
        let file = ProfileFile::named(config_folder, &call.profile.profile)?;
        let profile = file.load()?;
        Ok(Self { client: profile.client()?, file, profile })
    }

    /// Stores a new session token in the profile, so that the next command does not log in again. Writes nothing if the
    /// token is unchanged.
    async fn store_session(self) -> Result<(), ShellError> {
        let token = self.client.token().await.map(Secret);
        if token == self.profile.token {
            return Ok(());
        }
        self.file.save(&Profile { token, ..self.profile })
    }
}
