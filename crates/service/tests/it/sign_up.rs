//! Tests sign-up with invites, the rules for handles, and the quota of stored bytes.

use std::time::{Duration, Instant};

use sealpost_domain::{Handle, KeyStatus, Label, Refusal, ReservedHandles};
use sealpost_service::{
    Activate, Activated, Activation, Credentials, Error, InviteTerms, OperatorError, Sent, Settings,
};

use crate::support::{World, id, key_of, message, refusal};

fn sign_up(world: &World, invite: Option<&str>, handle: Option<&str>) -> Result<Activated, Error> {
    world.sealpost.activate(
        None,
        Ok(Activate {
            label: Label::parse("test").unwrap(),
            handle: handle.map(|handle| Handle::parse(handle).unwrap()),
            invite: invite.map(str::to_owned),
        }),
    )
}

fn terms(uses: u32) -> InviteTerms {
    InviteTerms { uses, expires_in: DAY, note: None }
}

#[test]
fn a_refused_activation_uses_up_no_invite() {
    let settings = Settings { activation: Activation::Invite, ..Settings::default() };
    for world in World::on_both(&settings) {
        let invite = world.operator().create_invite(&terms(2)).unwrap().invite;
        sign_up(&world, Some(&invite), Some("alice")).unwrap();
        let taken = sign_up(&world, Some(&invite), Some("alice"));
        assert_eq!(refusal(taken), Refusal::HandleTaken);
        // Handles are not revealed without a valid invite.
        assert_eq!(refusal(sign_up(&world, None, Some("alice"))), Refusal::InviteRequired);
        sign_up(&world, Some(&invite), Some("bob")).unwrap();
        let used_up = sign_up(&world, Some(&invite), Some("carol"));
        assert_eq!(refusal(used_up), Refusal::InviteInvalid);
    }
}

#[test]
fn an_invite_expires() {
    let settings = Settings { activation: Activation::Invite, ..Settings::default() };
    for world in World::on_both(&settings) {
        let invite = world.operator().create_invite(&terms(2)).unwrap().invite;
        world.clock.advance(DAY.checked_sub(MOMENT).unwrap());
        sign_up(&world, Some(&invite), None).unwrap();
        world.clock.advance(MOMENT);
        assert_eq!(refusal(sign_up(&world, Some(&invite), None)), Refusal::InviteInvalid);
    }
}

#[test]
fn reserved_handles_are_refused_unless_the_account_has_them() {
    let reserved_handles = ReservedHandles::parse("acme").unwrap();
    for world in World::on_both(&Settings { reserved_handles, ..Settings::default() }) {
        let alice = world.newcomer(None);
        let token = alice.token.as_deref();
        let take = |handle| world.activate(token, Some(handle));
        assert_eq!(refusal(take("acme")), Refusal::HandleReserved);
        let like_an_id = "handle must not look like an id or a secret; choose another handle";
        for handle in ["tok_x", "kt_", "inv_1"] {
            assert_eq!(refusal(take(handle)).to_string(), like_an_id);
        }
        take("admin").unwrap();
        let operator = world.operator();
        let acme = Handle::parse("acme").unwrap();
        let key = id(&alice);
        operator.assign_handle(&acme, &key).unwrap();
        operator.revoke_key(&key).unwrap();
        take("acme").unwrap();
    }
}

#[test]
fn a_handle_is_assigned_to_a_key_without_one() {
    for world in World::on_both(&Settings::default()) {
        let operator = world.operator();
        let handle = |text| Handle::parse(text).unwrap();
        let [alice, bob] = ["alice", "bob"].map(|name| sign_up(&world, None, Some(name)).unwrap());
        let carol = sign_up(&world, None, None).unwrap().api_key_id;
        let in_use = operator.assign_handle(&handle("alice"), &carol).unwrap_err();
        assert!(matches!(in_use, OperatorError::HandleInUse(key) if key == alice.api_key_id));
        let has = operator.assign_handle(&handle("support"), &bob.api_key_id).unwrap_err();
        assert!(matches!(has, OperatorError::HasHandle(other) if other == handle("bob")));
        operator.revoke_key(&alice.api_key_id).unwrap();
        let shown = operator.assign_handle(&handle("alice"), &carol).unwrap();
        assert_eq!((shown.handle, shown.status), (Some(handle("alice")), KeyStatus::Active));
        assert_eq!(operator.show_key(&carol).unwrap().handle, Some(handle("alice")));
        let revoked = operator.assign_handle(&handle("support"), &alice.api_key_id).unwrap_err();
        assert!(matches!(revoked, OperatorError::Pointless(_)));
        let released = operator.release_handle(&handle("alice")).unwrap();
        assert_eq!(released.api_key_id, carol);
        assert_eq!(operator.show_key(&carol).unwrap().handle, None);
        let missing = operator.release_handle(&handle("alice")).unwrap_err();
        assert!(matches!(missing, OperatorError::NotFound(_)));
        sign_up(&world, None, Some("alice")).unwrap();
        // Refused actions write nothing: a revocation, an assignment and a release are recorded.
        assert_eq!(operator.audit_entries(0, 99).unwrap().len(), 3);
    }
}

async fn send(world: &World, from: &Credentials, to: &Credentials) -> Result<Sent, Error> {
    let message = message(&key_of(to), &"x".repeat(1000), None);
    world.sealpost.send(from, Ok(message)).await.result
}

#[tokio::test]
async fn deletion_at_the_end_of_retention_gives_room_back() {
    let settings = Settings {
        account_bytes_max: Some(3000),
        retention: DAY,
        housekeeping_every: MOMENT,
        ..Settings::default()
    };
    for world in World::on_both(&settings) {
        let (alice, bob) = (world.newcomer(None), world.newcomer(None));
        send(&world, &alice, &bob).await.unwrap();
        let refused = refusal(send(&world, &alice, &bob).await);
        assert_eq!(refused, Refusal::StorageQuotaExceeded { limit_bytes: 3000 });
        // The recipient stores nothing.
        send(&world, &bob, &alice).await.unwrap();
        world.clock.advance(DAY + Duration::from_secs(2));
        let until = Instant::now() + Duration::from_mins(1);
        let mut alice = world.log_in_again(&alice);
        while let Err(error) = send(&world, &alice, &bob).await {
            assert_eq!(refusal::<Sent>(Err(error)), refused);
            assert!(Instant::now() < until, "nothing was deleted in time");
            world.clock.advance(Duration::from_mins(1));
            alice = world.log_in_again(&alice);
        }
    }
}

const DAY: Duration = Duration::from_hours(24);
const MOMENT: Duration = Duration::from_millis(1);
