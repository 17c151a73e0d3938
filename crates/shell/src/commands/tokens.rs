//! `sealpost tokens`: the API tokens of the profile's account.

use std::path::Path;

use sealpost_client::{ApiTokenRequest, ApiTokenView};
use serde_json::json;

use super::ProfileClient;
use crate::{cli::TokensCommand, error::ShellError, output};

pub(super) async fn run(command: TokensCommand, config_folder: &Path) -> Result<(), ShellError> {
    let (TokensCommand::Create { call, .. }
    | TokensCommand::List { call }
    | TokensCommand::Revoke { call, .. }) = &command;
    let (json, service) = (call.json, ProfileClient::open(&call.profile, config_folder)?);
    let account = service.client.account();
    match command {
        TokensCommand::Create { name, scopes, expires_in_days, .. } => {
            // The request contains the login secret, because a session alone may not create tokens.
            let (secret, key) = (&service.profile.login_secret, service.profile.api_key_id);
            let Some((secret, api_key_id)) = secret.as_ref().zip(key) else {
                return Err(ShellError::Invalid(NO_LOGIN_SECRET.to_owned()));
            };
            let token = ApiTokenRequest { api_key_id, name, scopes, expires_in_days };
            output::result(&account.create_token(&secret.0, &token).await?, json)?;
        }
        TokensCommand::List { .. } => {
            output::list(&account.tokens().await?, json, COLUMNS, token_cells)?;
        }
        TokensCommand::Revoke { token_id, .. } => {
            account.revoke_token(token_id).await?;
            output::result(&json!({"token_id": token_id, "revoked": true}), json)?;
        }
    }
    service.store_session().await;
    Ok(())
}

fn token_cells(token: &ApiTokenView) -> [String; 4] {
    let ApiTokenView { token_id, name, api_key_id, expires_at, .. } = token;
    [token_id.to_string(), name.clone(), api_key_id.to_string(), format!("until {expires_at}")]
}

const COLUMNS: [&str; 4] = ["token_id", "name", "api_key_id", "expires_at"];
const NO_LOGIN_SECRET: &str =
    "the profile has no login secret: run sealpost login with the account's login secret";
