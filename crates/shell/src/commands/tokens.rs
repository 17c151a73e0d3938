//! `sealpost tokens`: the API tokens of the profile's account.

use std::path::Path;

use sealpost_client::{ApiTokenRequest, ApiTokenView, TokenScope};
use serde_json::json;

use super::ProfileClient;
use crate::{
    cli::{CallArgs, TokensCommand},
    error::ShellError,
    output,
};

pub(super) async fn run(command: TokensCommand, config_folder: &Path) -> Result<(), ShellError> {
    match command {
        TokensCommand::Create { name, scopes, expires_in_days, call } => {
            create(&name, &scopes, expires_in_days, &call, config_folder).await
        }
        TokensCommand::List { call } => {
            let service = ProfileClient::open(&call, config_folder)?;
            let tokens = service.client.account().tokens().await?;
            output::list(&tokens, call.json, COLUMNS, token_cells)?;
            service.store_session().await;
            Ok(())
        }
        TokensCommand::Revoke { token_id, call } => {
            let service = ProfileClient::open(&call, config_folder)?;
            service.client.account().revoke_token(token_id).await?;
            output::result(&json!({"token_id": token_id, "revoked": true}), call.json)?;
            service.store_session().await;
            Ok(())
        }
    }
}

/// Creates a token for the profile's API key. The request contains the login secret, because a session alone may not
/// create tokens.
async fn create(
    name: &str,
    scopes: &[TokenScope],
    expires_in_days: Option<u32>,
    call: &CallArgs,
    config_folder: &Path,
) -> Result<(), ShellError> {
    let service = ProfileClient::open(call, config_folder)?;
    let (secret, key) = (service.profile.login_secret.as_ref(), service.profile.api_key_id);
    let Some((secret, key)) = secret.zip(key) else {
        let advice =
            "the profile has no login secret: run sealpost login with the account's login secret";
        return Err(ShellError::Invalid(advice.to_owned()));
    };
    let token = ApiTokenRequest {
        api_key_id: key,
        name: name.to_owned(),
        scopes: scopes.to_vec(),
        expires_in_days,
    };
    let created = service.client.account().create_token(&secret.0, &token).await?;
    output::result(&created, call.json)?;
    service.store_session().await;
    Ok(())
}

fn token_cells(token: &ApiTokenView) -> [String; 4] {
    let ApiTokenView { token_id, name, api_key_id, expires_at, .. } = token;
    [token_id.to_string(), name.clone(), api_key_id.to_string(), format!("until {expires_at}")]
}

const COLUMNS: [&str; 4] = ["token_id", "name", "api_key_id", "expires_at"];
