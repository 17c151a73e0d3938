//! `sealpost keys`: the API key of the profile, and other keys.

use std::path::Path;

use super::ProfileClient;
use crate::{cli::KeysCommand, error::ShellError, output};

pub(super) async fn run(command: KeysCommand, config_folder: &Path) -> Result<(), ShellError> {
    match command {
        KeysCommand::Activate { label, handle, call } => {
            let service = ProfileClient::open(&call, config_folder)?;
            let activated = service.client.activate(&label, handle.as_deref(), None).await?;
            output::result(&activated, call.json)?;
            service.store_session().await;
            Ok(())
        }
        KeysCommand::Find { id, call } => {
            let service = ProfileClient::open(&call, config_folder)?;
            let resolved = service.client.resolve(&id).await?;
            output::result(&resolved, call.json)?;
            service.store_session().await;
            Ok(())
        }
        KeysCommand::Show { call } => {
            let service = ProfileClient::open(&call, config_folder)?;
            let standing = service.client.status().await?;
            output::result(&standing, call.json)?;
            service.store_session().await;
            Ok(())
        }
    }
}
