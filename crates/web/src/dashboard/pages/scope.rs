//! The identities whose events or envelopes a page lists. A tab (a page of one identity) has only this identity. A page
//! of the account has all identities, or only the identity that its filter selects.

use actix_web::HttpRequest;
use sealpost_domain::{ApiKeyId, KeyStatus};
use sealpost_service::KeyStanding;

use super::{id_of, identity::IdentityHead};
use crate::{
    dashboard::session::SignedInUser,
    html::{PageResponse, text::short_id},
};

/// The identities whose entries a page lists.
pub(super) struct Scope {
    /// The identity of the tab, or at most 200 identities of the account.
    pub(super) keys: Vec<KeyStanding>,
    is_tab: bool,
    /// The identity that the user selected in the filter. `None` for all identities, and on the tab of an identity.
    chosen: Option<ApiKeyId>,
}

/// Returns the API key in the path of a tab. `None` on a page of the account, whose path has no key.
pub(super) fn tab_of(request: &HttpRequest) -> Option<&str> {
    request.match_info().get("key")
}

impl Scope {
    /// Reads the identity of a tab, or the identities of the account. `chosen` is the identity that the filter selects.
    pub(super) async fn load(
        user: &SignedInUser,
        tab: Option<&str>,
        chosen: &str,
    ) -> Result<Self, PageResponse> {
        let Some(key) = tab else {
            let keys = user.ask(async |owner| Ok(owner.keys().await?.first)).await?;
            return Ok(Self { keys, is_tab: false, chosen: chosen.parse().ok() });
        };
        let id = id_of(user, key)?;
        let key = user.ask(async |owner| owner.standing(&id).await).await?;
        Ok(Self::for_tab(key))
    }

    /// Returns the scope of a page of one identity.
    pub(super) fn for_tab(key: KeyStanding) -> Self {
        Self { keys: vec![key], is_tab: true, chosen: None }
    }

    /// Returns the identity whose entries are listed. `None` for all identities of the account.
    pub(super) fn key(&self) -> Option<ApiKeyId> {
        let tab = self.keys.first().filter(|_| self.is_tab);
        tab.map(|key| key.api_key_id).or(self.chosen)
    }

    /// Returns the path below which the page is: the path of the identity on a tab (a page of one identity), otherwise
    /// the path of the dashboard.
    pub(super) fn path(&self) -> String {
        match self.keys.first().filter(|_| self.is_tab) {
            Some(key) => format!("/dashboard/keys/{}", key.api_key_id),
            None => "/dashboard".to_owned(),
        }
    }

    /// Returns the title of a page. On a page of one identity, the title has the label of the identity.
    pub(super) fn title(&self, name: &str) -> String {
        match self.keys.first().filter(|_| self.is_tab) {
            Some(key) => format!("{name} · {}", key.label),
            None => name.to_owned(),
        }
    }

    /// Returns the head of the pages of the identity. `None` for a page of the account.
    pub(super) fn head<'a>(
        &'a self,
        user: &'a SignedInUser,
        current: &'static str,
    ) -> Option<IdentityHead<'a>> {
        let tab = self.keys.first().filter(|_| self.is_tab);
        tab.map(|key| IdentityHead::new(user, key, current))
    }

    /// Returns the first identity that may register a webhook: its status is active, and operators have not blocked it.
    /// `None` if the page has no such identity.
    pub(super) fn first_usable(&self) -> Option<&KeyStanding> {
        self.keys.iter().find(|key| key.status == KeyStatus::Active && !key.governance.blocked)
    }

    /// Returns true if the page must name the identity of each entry.
    pub(super) fn has_several(&self) -> bool {
        self.keys.len() > 1
    }

    /// Returns the label of an identity, or its shortened id if the page does not have the identity.
    pub(super) fn label_of(&self, id: &ApiKeyId) -> String {
        let key = self.keys.iter().find(|key| key.api_key_id == *id);
        key.map_or_else(|| short_id(id), |key| key.label.to_string())
    }

    /// Returns true if the identity is active, so that its webhooks can be changed.
    pub(super) fn is_active(&self, id: &ApiKeyId) -> bool {
        self.keys.iter().any(|key| key.api_key_id == *id && key.status == KeyStatus::Active)
    }
}
