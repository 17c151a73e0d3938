//! Tests of the whole service. One part runs random operations, and compares the responses with those of a simple
//! model. The other part tests guarantees under concurrency.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod concurrency;
mod kept;
mod op;
mod run;
mod truth;
mod usage;

use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

use self::{
    op::ops,
    run::{CHANNEL, CLASSIC, run},
};
use crate::support::World;

/// Returns the configuration for this number of random cases. Failing cases are stored in a file, and run first the
/// next time.
fn cases(cases: u32) -> Config {
    let kept = FileFailurePersistence::Direct("tests/it/model/failures.txt");
    Config {
        cases,
        failure_persistence: Some(Box::new(kept)),
        max_shrink_time: 60_000,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn every_response_equals_the_model_on_sqlite(ops in ops()) {
        run(World::with(run::settings()), CLASSIC, &ops).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn every_response_equals_the_model_with_channels_on_sqlite(ops in ops()) {
        run(World::with(run::with_channels()), CHANNEL, &ops).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn every_response_equals_the_model_with_channels_on_postgres(ops in ops()) {
        run(World::on_postgres(run::with_channels()), CHANNEL, &ops).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn every_response_equals_the_model_on_postgres(ops in ops()) {
        run(World::on_postgres(run::settings()), CLASSIC, &ops).map_err(TestCaseError::fail)?;
    }
}
