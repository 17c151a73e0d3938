//! The port for API tokens.

use crate::ports::error::StoreError;
use crate::{AccountId, ApiToken, ApiTokenId, Timestamp, TokenHash};

/// Writes API tokens.
pub trait ApiTokenRepo {
    /// Inserts a token.
    fn insert_api_token(&mut self, token: &ApiToken) -> Result<(), StoreError>;

    /// Counts the tokens of an account that have not expired at `now`.
    fn count_api_tokens(&mut self, account: &AccountId, now: Timestamp) -> Result<u64, StoreError>;

    /// Deletes a token. Returns the deleted token; `None` if it does not exist, or belongs to another account than
    /// `account`.
    fn delete_api_token(
        &mut self,
        id: &ApiTokenId,
        account: Option<&AccountId>,
    ) -> Result<Option<ApiToken>, StoreError>;

    /// Deletes all tokens of an account. Returns their number.
    fn delete_api_tokens_of(&mut self, account: &AccountId) -> Result<u64, StoreError>;

    /// Deletes up to `limit` tokens of all accounts. Returns their number.
    fn end_api_tokens(&mut self, limit: u32) -> Result<u64, StoreError>;

    /// Stores `hour` as the start of the hour in which the token was last used. Replaces a later hour
    /// only if it is more than an hour later, because it then came from a wrong clock. Ignores unknown tokens.
    fn set_api_token_use(&mut self, token: &TokenHash, hour: Timestamp) -> Result<(), StoreError>;
}
