//! Tests of expiry, removal and replacement of secrets.

use super::*;

/// The key of a vault entry: the numbers of the two API keys that share the secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Of(u8, u8);

impl VaultKey for Of {
    fn parties(&self) -> [ApiKeyId; 2] {
        [party(self.0), party(self.1)]
    }
}

fn party(n: u8) -> ApiKeyId {
    ApiKeyId::new(at(0), [n; 10])
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn vault(max: usize) -> SecretVault<Of, u32> {
    SecretVault::new(max, Duration::from_millis(100))
}

fn put(vault: &SecretVault<Of, u32>, key: Of, value: u32, now: i64) -> Arc<u32> {
    vault.share(key, value, at(now), |_| false)
}

fn is_empty(vault: &SecretVault<Of, u32>) -> bool {
    let entries = vault.entries.lock();
    entries.by_key.is_empty() && entries.by_number.is_empty() && entries.by_party.is_empty()
}

#[test]
fn a_value_expires_to_the_millisecond() {
    for (now, is_live) in [(1000, true), (1099, true), (1100, false), (901, true), (900, false)] {
        let vault = vault(9);
        let value = put(&vault, Of(1, 2), 7, 1000);
        assert_eq!(vault.get(&Of(1, 2), at(now)).is_some(), is_live, "{now}");
        assert_eq!(Arc::strong_count(&value), if is_live { 2 } else { 1 }, "{now}");
    }
}

#[test]
fn an_expired_value_is_dropped_without_a_read() {
    let vault = vault(9);
    let (old, new) = (put(&vault, Of(1, 2), 1, 1000), put(&vault, Of(1, 3), 2, 1050));
    vault.wipe_expired(at(1120));
    assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
    vault.wipe_expired(at(1150));
    assert!(is_empty(&vault));
}

#[test]
fn the_oldest_value_makes_room() {
    let vault = vault(2);
    let values = [1, 2, 3].map(|n| put(&vault, Of(n, 9), n.into(), 1000));
    assert_eq!(values.each_ref().map(Arc::strong_count), [1, 2, 2]);
    assert!(vault.get(&Of(1, 9), at(1000)).is_none());
    // A replaced value counts as the newest one.
    let replaced = put(&vault, Of(2, 9), 4, 1001);
    assert_eq!(values.each_ref().map(Arc::strong_count), [1, 1, 2]);
    put(&vault, Of(5, 9), 5, 1002);
    assert_eq!((Arc::strong_count(&values[2]), Arc::strong_count(&replaced)), (1, 2));
}

#[test]
fn the_second_insert_returns_a_value_that_fits() {
    let vault = vault(9);
    let first = put(&vault, Of(1, 2), 1, 1000);
    let second = vault.share(Of(1, 2), 2, at(1099), |other| *other == 1);
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(*vault.share(Of(1, 2), 3, at(1099), |other| *other == 2), 3);
    assert_eq!(
        *vault.share(Of(1, 2), 4, at(1199), |other| *other == 3),
        4,
        "the other has expired"
    );
}

#[test]
fn only_values_of_the_key_are_removed() {
    let vault = vault(9);
    let keys = [Of(1, 2), Of(2, 1), Of(1, 3), Of(3, 2), Of(3, 4), Of(2, 2)];
    let values = keys.map(|key| put(&vault, key, 0, 1000));
    vault.remove_party(&party(2));
    assert_eq!(values.each_ref().map(Arc::strong_count), [1, 1, 2, 1, 2, 1]);
    vault.remove_party(&party(2));
    vault.remove_party(&party(3));
    assert!(is_empty(&vault));
}

#[test]
fn removing_a_replaced_value_keeps_its_successor() {
    let vault = vault(9);
    let (old, new) = (put(&vault, Of(1, 2), 1, 1000), put(&vault, Of(1, 2), 2, 1000));
    vault.remove(&Of(1, 2), &old);
    assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
    vault.remove(&Of(1, 2), &new);
    assert!(is_empty(&vault));
}

#[test]
fn a_closed_vault_keeps_nothing() {
    let vault = vault(9);
    let before = put(&vault, Of(1, 2), 1, 1000);
    vault.close();
    let after = put(&vault, Of(1, 3), 2, 1000);
    assert_eq!((Arc::strong_count(&before), Arc::strong_count(&after)), (1, 1));
    assert!(is_empty(&vault));
}
