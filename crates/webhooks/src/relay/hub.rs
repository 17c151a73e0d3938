//! The connections of relays to this node, and the deliveries on them that have no answer yet.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt, mem,
    sync::Arc,
};

use parking_lot::Mutex;
use sealpost_domain::{
    AccountId, WebhookId,
    ports::{
        RelayAnswer, RelayConnectionId, RelayEnd, RelayFrame, RelayLink, RelayMessage, Relays,
    },
};
use tokio::sync::oneshot;

#[derive(Default)]
pub(crate) struct RelayHub(Mutex<State>);

#[derive(Default)]
struct State {
    connections: HashMap<RelayConnectionId, Connection>,
    by_webhook: HashMap<WebhookId, Vec<RelayConnectionId>>,
    /// Webhooks with a new connection. Their waiting deliveries must be claimed.
    attached: HashSet<WebhookId>,
    /// Webhooks whose last connection to this node has ended. Their deliveries must be passed to other nodes.
    detached: HashSet<WebhookId>,
    is_stopping: bool,
}

struct Connection {
    webhook_id: WebhookId,
    account_id: AccountId,
    link: RelayLink,
    /// Number of the last delivery on the connection.
    last: u64,
    /// The unanswered deliveries by their numbers. Ordered, so that at the end of the connection the oldest deliveries
    /// return to their queue first.
    unanswered: BTreeMap<u64, oneshot::Sender<RelayAnswer>>,
}

/// A delivery that was sent on a connection. Dropping the value removes the delivery, so that a later answer is
/// ignored.
pub(crate) struct SentDelivery {
    hub: Arc<RelayHub>,
    connection: RelayConnectionId,
    number: u64,
    answer: oneshot::Receiver<RelayAnswer>,
}

impl RelayHub {
    /// Sends a delivery or a test event on the connection of the webhook with the fewest unanswered deliveries. Returns
    /// `None` only if the webhook has no connection.
    ///
    /// Does not limit the unanswered deliveries: the queue of the target limits its requests in flight, and the test
    /// sender limits test events. With a common limit here, test events could block deliveries.
    pub(crate) fn send(
        self: &Arc<Self>,
        webhook_id: &WebhookId,
        headers: Vec<(String, String)>,
        body: String,
    ) -> Option<SentDelivery> {
        let mut state = self.0.lock();
        let State { connections, by_webhook, .. } = &mut *state;
        let unanswered = |id: &RelayConnectionId| {
            connections.get(id).map_or(usize::MAX, |connection| connection.unanswered.len())
        };
        let id = *by_webhook.get(webhook_id)?.iter().min_by_key(|id| unanswered(id))?;
        let connection = connections.get_mut(&id)?;
        connection.last += 1;
        let number = connection.last;
        let (sender, answer) = oneshot::channel();
        connection.unanswered.insert(number, sender);
        let frame = RelayFrame { delivery: number, headers, body };
        (connection.link)(RelayMessage::Delivery(Box::new(frame)));
        Some(SentDelivery { hub: Arc::clone(self), connection: id, number, answer })
    }

    /// Returns the webhooks with a connection that was attached since the last call.
    pub(crate) fn take_attached(&self) -> HashSet<WebhookId> {
        mem::take(&mut self.0.lock().attached)
    }

    /// Returns the webhooks whose last connection to this node has ended since the last call. Such a webhook can have a
    /// new connection by now.
    pub(crate) fn take_detached(&self) -> HashSet<WebhookId> {
        mem::take(&mut self.0.lock().detached)
    }
}

impl SentDelivery {
    /// Waits for the answer. Returns `None` if the connection ends before the answer arrives.
    pub(crate) async fn answer(mut self) -> Option<RelayAnswer> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for SentDelivery {
    fn drop(&mut self) {
        let mut state = self.hub.0.lock();
        if let Some(connection) = state.connections.get_mut(&self.connection) {
            connection.unanswered.remove(&self.number);
        }
    }
}

impl Relays for RelayHub {
    fn attach(
        &self,
        id: RelayConnectionId,
        webhook_id: WebhookId,
        account_id: AccountId,
        link: RelayLink,
    ) -> bool {
        let mut state = self.0.lock();
        if state.is_stopping {
            return false;
        }
        let unanswered = BTreeMap::new();
        let connection = Connection { webhook_id, account_id, link, last: 0, unanswered };
        state.connections.insert(id, connection);
        state.by_webhook.entry(webhook_id).or_default().push(id);
        state.attached.insert(webhook_id);
        true
    }

    fn detach(&self, id: RelayConnectionId) {
        let mut state = self.0.lock();
        let Some(connection) = state.connections.remove(&id) else { return };
        if let Some(of_webhook) = state.by_webhook.get_mut(&connection.webhook_id) {
            of_webhook.retain(|other| *other != id);
            if of_webhook.is_empty() {
                state.by_webhook.remove(&connection.webhook_id);
                state.detached.insert(connection.webhook_id);
            }
        }
    }

    fn answer(&self, id: RelayConnectionId, answer: RelayAnswer) -> bool {
        let mut state = self.0.lock();
        let connection = state.connections.get_mut(&id);
        let waiting = connection.and_then(|it| it.unanswered.remove(&answer.delivery));
        drop(state);
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }

    fn close(&self, id: RelayConnectionId, end: RelayEnd) {
        if let Some(connection) = self.0.lock().connections.get(&id) {
            (connection.link)(RelayMessage::Close(end));
        }
    }

    fn stop(&self) {
        let mut state = self.0.lock();
        state.is_stopping = true;
        for connection in state.connections.values() {
            (connection.link)(RelayMessage::Close(RelayEnd::Stopping));
        }
    }

    fn yielding(&self, newcomer: &AccountId) -> Option<RelayConnectionId> {
        let state = self.0.lock();
        let mut by_account = HashMap::<_, Vec<_>>::new();
        for (id, connection) in &state.connections {
            by_account.entry(connection.account_id).or_default().push(*id);
        }
        let own = by_account.get(newcomer).map_or(0, Vec::len);
        let most = by_account.values().max_by_key(|ids| ids.len())?;
        if own + 1 < most.len() { most.first().copied() } else { None }
    }

    fn ids(&self) -> Vec<RelayConnectionId> {
        self.0.lock().connections.keys().copied().collect()
    }

    fn is_connected(&self, webhook_id: &WebhookId) -> bool {
        self.0.lock().by_webhook.contains_key(webhook_id)
    }

    fn unanswered(&self, id: RelayConnectionId) -> Option<usize> {
        self.0.lock().connections.get(&id).map(|connection| connection.unanswered.len())
    }

    fn len(&self) -> usize {
        self.0.lock().connections.len()
    }
}

impl fmt::Debug for RelayHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayHub").field("connections", &self.len()).finish_non_exhaustive()
    }
}
