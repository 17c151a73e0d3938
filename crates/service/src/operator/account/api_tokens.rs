//! Operator actions on API tokens: list the tokens of an account, and revoke a token.

use sealpost_domain::{AccountId, ApiTokenId};
use serde_json::json;

use crate::account::api_tokens::ApiTokenView;
use crate::operator::action::{ActionRecord, Concerned, Operator, OperatorError};
use crate::operator::lists::ListPage;

impl Operator {
    /// Lists the API tokens of an account that have not expired.
    pub fn api_tokens(&self, account: &AccountId) -> Result<ListPage<ApiTokenView>, OperatorError> {
        let now = self.clock.now();
        if self.store.read(|reader| reader.find_login_secret(account))?.is_none() {
            return Err(OperatorError::NotFound("such account"));
        }
        let tokens = self.store.read(|reader| reader.api_tokens_of(account, now))?;
        let entries = tokens.into_iter().map(ApiTokenView::from).collect();
        Ok(ListPage { entries, more: false })
    }

    /// Revokes an API token. No node admits a later request with the token.
    pub fn revoke_api_token(&self, id: &ApiTokenId) -> Result<ApiTokenView, OperatorError> {
        self.perform(|tx| {
            let Some(token) = tx.delete_api_token(id, None)? else {
                return Err(OperatorError::NotFound("such API token").into());
            };
            let detail = json!({"account_id": token.account_id, "api_key_id": token.api_key_id});
            let record = ActionRecord {
                action: "token.revoke",
                subject: id.to_string(),
                concerned: Concerned::Account(token.account_id),
                detail,
            };
            Ok((ApiTokenView::from(token), record))
        })
    }
}
