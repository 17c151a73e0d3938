//! Tests that channels are stored with their first envelope and outlive the last.

use std::{sync::Arc, time::Duration};

use sealpost_domain::{
    Channel, ChannelId, EnvelopeId,
    ports::{Durability::Durable, Durability::Relaxed, WriteSet},
};

use crate::tests::fixture::{Fixture, at, envelope, key};

on_both!(
    a_channel_reads_back,
    a_channel_is_stored_once_and_never_changed,
    a_channel_that_a_failover_lost_is_stored_again,
    a_rolled_back_batch_stores_no_channel,
    a_channel_outlives_all_of_its_envelopes,
    deletion_of_channels_respects_its_limit,
);

fn begun(db: &Fixture, millis: i64, n: u8) -> Arc<Channel> {
    let account_id = db.activate().account_id;
    Arc::new(Channel {
        id: ChannelId::new(at(millis), [n; 10]),
        sender: key(&account_id).id,
        recipient: key(&account_id).id,
        sealing_version: 7,
        encapsulation: (0..1120).map(|byte| u8::try_from(byte % 251).unwrap()).collect(),
        signature: [n; 64],
    })
}

fn find(db: &Fixture, id: &ChannelId) -> Option<Channel> {
    db.write(Durable, |tx| tx.find_channel(id)).unwrap()
}

fn a_channel_reads_back(db: &Fixture) {
    let channels = [begun(db, 5, 1), begun(db, 5, 2)];
    db.apply(&WriteSet { channels: channels.to_vec(), ..WriteSet::default() });
    for channel in &channels {
        assert!(find(db, &channel.id).as_ref() == Some(&**channel));
    }
    assert!(find(db, &ChannelId::new(at(5), [3; 10])).is_none());
}

/// A node inserts the channel again after each new connection, and other batches may have stored it in the meantime.
fn a_channel_is_stored_once_and_never_changed(db: &Fixture) {
    let channel = begun(db, 5, 1);
    let impostor = Arc::new(Channel { signature: [9; 64], ..Channel::clone(&channel) });
    let fresh = begun(db, 5, 2);
    for channels in
        [vec![Arc::clone(&channel)], vec![Arc::clone(&channel)], vec![impostor, Arc::clone(&fresh)]]
    {
        let envelopes = vec![Arc::new(envelope(&channel.sender, &channel.recipient))];
        db.facts_cache.clear();
        db.apply(&WriteSet { channels, envelopes, ..WriteSet::default() });
    }
    assert_eq!((db.count("channels"), db.count("envelopes")), (2, 3));
    assert!(find(db, &channel.id).as_ref() == Some(&*channel));
    assert!(find(db, &fresh.id).as_ref() == Some(&*fresh));
}

/// After a failover, a new connection may lead to a server without the newest transactions. A channel that stayed
/// missing would make all its later envelopes unreadable.
fn a_channel_that_a_failover_lost_is_stored_again(db: &Fixture) {
    let channel = begun(db, 5, 1);
    let changes = WriteSet { channels: vec![Arc::clone(&channel)], ..WriteSet::default() };
    let lose = || db.execute("DELETE FROM channels").unwrap();
    let is_stored = || find(db, &channel.id).is_some();
    db.apply(&changes);
    lose();
    db.facts_cache.clear();
    db.apply(&changes);
    assert!(is_stored());

    // The commit on the old connection ends after the new connection was opened.
    db.facts_cache.clear();
    let mut late = db.begin(Durable).unwrap();
    late.apply(&changes).unwrap();
    db.facts_cache.clear();
    late.commit().unwrap();
    lose();
    db.apply(&changes);
    assert!(is_stored());
}

fn a_rolled_back_batch_stores_no_channel(db: &Fixture) {
    let channel = begun(db, 5, 1);
    let stored = Arc::new(envelope(&channel.sender, &channel.recipient));
    db.apply(&WriteSet { envelopes: vec![Arc::clone(&stored)], ..WriteSet::default() });
    let again = WriteSet {
        channels: vec![Arc::clone(&channel)],
        envelopes: vec![stored],
        ..WriteSet::default()
    };
    db.write(Durable, |tx| tx.apply(&again)).unwrap_err();
    assert!(find(db, &channel.id).is_none());
}

fn a_channel_outlives_all_of_its_envelopes(db: &Fixture) {
    let channels = [begun(db, 1000, 0), begun(db, 1000, 255), begun(db, 1001, 0)];
    db.apply(&WriteSet { channels: channels.to_vec(), ..WriteSet::default() });
    let sent = |millis| {
        let mut envelope = envelope(&channels[0].sender, &channels[0].recipient);
        envelope.meta.id = EnvelopeId::new(at(millis), [0; 10]);
        envelope.meta.timestamp = at(millis);
        Arc::new(envelope)
    };
    let envelopes = vec![sent(1049), sent(1100)];
    db.apply(&WriteSet { envelopes, ..WriteSet::default() });
    let life = Duration::from_millis(50);
    let purge = |time| db.write(Relaxed, |tx| tx.purge_channels(at(time), life, 99)).unwrap();
    let purge_envelopes =
        |time| db.write(Relaxed, |tx| tx.purge_envelopes(at(time), at(9), 99)).unwrap();
    // An envelope of the last millisecond of the channel still exists.
    assert_eq!(purge(9999), 0);
    assert_eq!(purge_envelopes(1050), 1);
    assert_eq!((purge(1050), purge(1051)), (0, 2));
    assert!(find(db, &channels[2].id).is_some());
    assert_eq!(purge(9999), 1, "the last envelope belongs to a later channel");
    assert_eq!((db.count("channels"), db.count("envelopes")), (0, 1));
}

fn deletion_of_channels_respects_its_limit(db: &Fixture) {
    let channels: Vec<_> = (0..5).map(|n| begun(db, i64::from(n), n)).collect();
    db.apply(&WriteSet { channels: channels.clone(), ..WriteSet::default() });
    let purge =
        |limit| db.write(Relaxed, |tx| tx.purge_channels(at(9999), Duration::ZERO, limit)).unwrap();
    assert_eq!((purge(0), purge(2)), (0, 2));
    assert!(find(db, &channels[1].id).is_none() && find(db, &channels[2].id).is_some());
    assert_eq!((purge(2), purge(2), purge(2)), (2, 1, 0));
}
