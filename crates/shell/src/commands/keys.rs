//! `sealpost keys`: the API key of the profile, and other keys.

use std::path::Path;

use super::ProfileClient;
use crate::{cli::KeysCommand, error::ShellError, output};

pub(super) async fn run(command: KeysCommand, config_folder: &Path) -> Result<(), ShellError> {
    let (KeysCommand::Activate { call, .. }
    | KeysCommand::Find { call, .. }
    | KeysCommand::Show { call }) = &command;
    let service = ProfileClient::open(&call.profile, config_folder)?;
    let client = &service.client;
    match &command {
        KeysCommand::Activate { label, handle, .. } => {
            output::result(&client.activate(label, handle.as_deref(), None).await?, call.json)?;
        }
        KeysCommand::Find { id, .. } => output::result(&client.resolve(id).await?, call.json)?,
        KeysCommand::Show { .. } => output::result(&client.status().await?, call.json)?,
    }
    service.store_session().await;
    Ok(())
}
