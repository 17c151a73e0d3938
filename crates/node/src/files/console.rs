//! Reads the password file of the console. The console consists of web pages and an API for operators, which the
//! operations address serves.

use std::path::{Path, PathBuf};

use actix_web::web;
use sealpost_api::{AdminState, ApiState};
use sealpost_service::PasswordFile;

use crate::{
    error::NodeError,
    files::secret_file,
    settings::{ConsoleSettings, base_url::BaseUrl},
};

/// The console of a running node, and the path of its password file.
#[derive(Clone)]
pub(crate) struct Console {
    pub(crate) state: web::Data<AdminState>,
    file: PathBuf,
}

impl Console {
    /// Reads the password file, and creates the state of the console. Returns `None` if the console is off. `url` is
    /// the URL of the operations address. It is used if the settings contain no URL of the console.
    pub(crate) fn open(
        settings: &ConsoleSettings,
        api: web::Data<ApiState>,
        url: &str,
    ) -> Result<Option<Self>, NodeError> {
        let Some(file) = &settings.password_file else { return Ok(None) };
        let url = BaseUrl::new(settings.url.as_deref(), url)?.as_str().to_owned();
        let state = AdminState::new(api, url, read(file)?, settings.admin);
        let state = state.map_err(|error| NodeError::caused("the console cannot start", error))?;
        Ok(Some(Self { state: web::Data::new(state), file: file.clone() }))
    }

    /// Reads the password file again. If the file is invalid, logs the error, and keeps the operators of the previous
    /// file.
    pub(crate) fn reload(&self) {
        match read(&self.file) {
            Ok(file) => {
                let operators = file.len();
                self.state.access.use_file(file);
                tracing::info!(operators, "reloaded the console's password file");
            }
            Err(error) => tracing::error!(
                error = error.with_causes(),
                "the console's password file cannot be used; the previous operators stay"
            ),
        }
    }
}

/// Reads the operators of a password file.
pub(crate) fn read(file: &Path) -> Result<PasswordFile, NodeError> {
    let text = secret_file::read("the console's password file", file)?;
    PasswordFile::parse(&text).map_err(|fault| {
        NodeError::caused(
            format!("the console's password file {} is invalid", file.display()),
            fault,
        )
    })
}
