//! Tests that an act changes nothing if its session ends or its key is revoked between admission and first transaction.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use sealpost_domain::{
    AcceptPolicy, Code, EventKind, RequestSource,
    ports::{Durability, StoreError},
};
use sealpost_service::{
    Actor, Credentials, Error, PolicyChange, Recover, Register, Scope, Sealpost, Settings, Update,
};
use sealpost_storage::Access;

use crate::{
    client::{Client, EVERY_SCOPE, Manage, wait},
    support::{World, hooked, id, key_of, refusal, webhook_for},
};

enum Act {
    Manage(Manage),
    Policy(PolicyChange),
    Register(Register),
}

impl Act {
    async fn perform(self, node: &Sealpost, actor: &Actor) -> Result<(), Error> {
        match self {
            Self::Manage(act) => act.perform(node, actor).await.map(drop),
            Self::Policy(change) => node.accounts.set_policy(actor, change).await.map(drop),
            Self::Register(asked) => node.webhooks.register(actor, asked).await.map(drop),
        }
        .result
    }
}

/// Creates one act of each kind.
fn acts(webhook_id: &str, envelope_id: &str) -> [Act; 9] {
    let webhook_id = webhook_id.to_owned();
    let envelope_id = envelope_id.to_owned();
    let update = Update {
        webhook_id: webhook_id.clone(),
        url: Some("https://new.example/".to_owned()),
        events: None,
        description: None,
        paused: Some(true),
    };
    let recover = Recover {
        webhook_id: webhook_id.clone(),
        since: sealpost_domain::Timestamp::from_millis(0),
        until: None,
        dry_run: false,
    };
    let accept = |accept| PolicyChange { accept: Some(accept), ..PolicyChange::default() };
    [
        Act::Manage(Manage::Delete { webhook_id: webhook_id.clone() }),
        Act::Manage(Manage::Enable { webhook_id: webhook_id.clone() }),
        Act::Manage(Manage::Recover(recover)),
        Act::Manage(Manage::Redeliver { webhook_id: webhook_id.clone(), envelope_id }),
        Act::Manage(Manage::RotateSecret { webhook_id }),
        Act::Manage(Manage::Update(update)),
        Act::Policy(accept(AcceptPolicy::Contacts)),
        Act::Policy(accept(AcceptPolicy::Nobody)),
        Act::Register(webhook_for(EventKind::EnvelopeReceived)),
    ]
}

/// Returns the rows that the acts change, as text.
fn rows(world: &World, who: &Credentials) -> String {
    let key = id(who);
    let read = world.database.read(|reader| {
        let account = reader.find_key(&key)?.unwrap().account_id;
        let webhooks = reader.list_webhooks(&key)?;
        let oldest = sealpost_domain::Timestamp::from_millis(0);
        let pending = webhooks
            .iter()
            .map(|webhook| reader.pending_deliveries(&webhook.id, oldest, None, 10))
            .collect::<Result<Vec<_>, _>>()?;
        let (policy, activity) =
            (reader.find_policy(&key)?, reader.activity_of(&account, None, 9)?);
        Ok::<_, StoreError>(format!("{webhooks:?} {pending:?} {policy:?} {activity:?}"))
    });
    read.unwrap()
}

fn caller(node: &Client, who: &Credentials) -> Actor {
    wait(node.authenticate(who, EVERY_SCOPE)).unwrap().acting(&RequestSource::default())
}

fn owner(node: &Client, who: &Credentials) -> Actor {
    node.owner(who.token.as_deref().unwrap()).unwrap().acting_on(&id(who))
}

/// Performs each act on both databases. `interfere` runs on another node after the admission and before the first
/// durable transaction.
fn refuse_each_act(
    actor: fn(&Client, &Credentials) -> Actor,
    interfere: fn(&World, &Credentials),
    code: Code,
) {
    for world in World::on_both(&Settings::default()) {
        let world = Arc::new(world);
        let meanwhile = Arc::new(Mutex::new(None::<Box<dyn FnOnce() + Send>>));
        let waiting = Arc::clone(&meanwhile);
        let store = hooked(&world, move |access| {
            let is_request = thread::current().name().is_some_and(|name| name.starts_with("tokio"));
            if is_request && access == Access::Write(Durability::Durable) {
                waiting.lock().unwrap().take().into_iter().for_each(|interfere| interfere());
            }
            Ok(())
        });
        let node = world.node_on(store, Settings::default());
        for number in 0..acts("", "").len() {
            let who = world.newcomer(None);
            let webhook_id = world.register(&who).webhook_id.to_string();
            let sent = wait(world.sealpost.send_hello(&who, &key_of(&who))).unwrap();
            let act = acts(&webhook_id, &sent.message.envelope_id.to_string())
                .into_iter()
                .nth(number)
                .unwrap();
            let actor = actor(&node, &who);
            let (before, rows_before) = mpsc::channel();
            let (there, caller) = (Arc::clone(&world), who.clone());
            *meanwhile.lock().unwrap() = Some(Box::new(move || {
                interfere(&there, &caller);
                before.send(rows(&there, &caller)).unwrap();
            }));
            assert_eq!(refusal(wait(act.perform(&node, &actor))).code(), code, "act {number}");
            assert_eq!(rows_before.try_recv().unwrap(), rows(&world, &who), "act {number}");
        }
    }
}

fn end_session(world: &World, who: &Credentials) {
    world.sealpost.logout(who.token.as_deref(), Ok(Scope::Session)).unwrap();
}

#[test]
fn a_session_that_ends_after_the_admission_of_a_caller_performs_nothing() {
    refuse_each_act(caller, end_session, Code::Unauthorized);
}

#[test]
fn a_session_that_ends_after_the_admission_of_an_owner_performs_nothing() {
    refuse_each_act(owner, end_session, Code::Unauthorized);
}

#[test]
fn a_key_that_is_deactivated_after_the_admission_of_an_act_performs_nothing() {
    let deactivate = |world: &World, who: &Credentials| {
        world.operator().deactivate_key(&id(who)).map(drop).unwrap();
    };
    refuse_each_act(caller, deactivate, Code::KeyInactive);
}

#[test]
fn a_key_that_is_revoked_after_the_admission_of_an_act_performs_nothing() {
    let revoke = |world: &World, who: &Credentials| {
        world.operator().revoke_key(&id(who)).map(drop).unwrap();
    };
    refuse_each_act(caller, revoke, Code::KeyInactive);
}
