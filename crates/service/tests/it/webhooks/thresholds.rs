//! Tests `usage.threshold` events against a model, with random requests, plans, days and restarts. Each threshold must
//! give one event for each day or month.

use std::{collections::BTreeSet, time::Duration};

use proptest::prelude::*;
use sealpost_domain::{Clock as _, EventKind, EventsVersion, LeaseToken};
use sealpost_service::{Agreement, Settings};
use serde_json::Value;

use crate::support::{World, id, key_of, message, webhook_for};

#[derive(Debug, Clone)]
enum Step {
    Advance(u64),
    Agree(u32, u32),
    /// From now on, another node handles the requests.
    Restart,
    Send,
    Status,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (1..30_u64).prop_map(Step::Advance),
        2 => (0..12_u32, 0..12_u32).prop_map(|(day, month)| Step::Agree(day, month)),
        1 => Just(Step::Restart),
        8 => Just(Step::Send),
        4 => Just(Step::Status),
    ]
}

/// A day or a month of the model: its number (`period`), its usage and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counter {
    name: &'static str,
    period: i64,
    used: u32,
    limit: u32,
}

impl Counter {
    fn is_full(&self) -> bool {
        self.used >= self.limit
    }

    fn reached(&self) -> impl Iterator<Item = (String, u64, i64)> {
        let Self { name, period, used, limit } = *self;
        let thresholds = [80, 100].into_iter();
        let reached = thresholds.filter(move |it| limit > 0 && used * 100 >= limit * it);
        reached.map(move |it| (name.to_owned(), u64::from(it), period))
    }
}

const HOUR: Duration = Duration::from_hours(1);
const YEAR: Duration = Duration::from_hours(24 * 365);

/// Returns a number for the calendar day of an instant, and a number for its calendar month. The numbers differ between
/// any two days or months, also of different years.
fn periods(rfc3339: &str) -> [i64; 2] {
    let date = rfc3339.split('T').next().unwrap();
    let numbers: Vec<i64> = date.split('-').map(|it| it.parse().unwrap()).collect();
    let month = numbers[0] * 12 + numbers[1];
    [month * 100 + numbers[2], month]
}

async fn run(world: World, settings: Settings, steps: &[Step]) -> Result<(), TestCaseError> {
    let (alice, bob) = (world.newcomer(None), world.newcomer(None));
    let key = id(&alice);
    let register = webhook_for(EventKind::UsageThreshold);
    world.sealpost.register(&alice, &Ok(register)).result.unwrap();
    let to = key_of(&bob);
    let mut node = None;
    // The registration was a request.
    let mut day = Counter { name: "day", period: 0, used: 1, limit: 1000 };
    let mut month = Counter { name: "month", period: 0, used: 0, limit: 1000 };
    [day.period, month.period] = periods(&world.clock.now().to_string());
    let mut wanted = BTreeSet::new();
    for step in steps {
        let [today, this_month] = periods(&world.clock.now().to_string());
        for (counter, period) in [(&mut day, today), (&mut month, this_month)] {
            if counter.period != period {
                (counter.period, counter.used) = (period, 0);
            }
        }
        let client = node.as_ref().unwrap_or(&world.sealpost);
        match *step {
            Step::Advance(hours) => {
                world.clock.advance(HOUR * u32::try_from(hours).unwrap());
                continue;
            }
            Step::Agree(per_day, per_month) => {
                let agreement = Agreement {
                    per_minute: Some(100_000),
                    per_day: Some(per_day),
                    per_month: Some(per_month),
                    per_second: Some(100_000),
                    allow_overage: false,
                };
                world.operator().agree(&key, agreement).unwrap();
                (day.limit, month.limit) = (per_day, per_month);
            }
            Step::Restart => {
                node = Some(world.another_node(settings.clone()));
                continue;
            }
            Step::Send => {
                let sent = client.send(&alice, Ok(message(&to, "x", None))).await;
                let is_stored = sent.result.is_ok();
                prop_assert_eq!(is_stored, !day.is_full() && !month.is_full());
                if is_stored {
                    day.used += 1;
                    month.used += 1;
                }
            }
            Step::Status => {
                let is_admitted = client.status(&alice, &Ok(())).result.is_ok();
                prop_assert_eq!(is_admitted, !day.is_full());
                day.used += u32::from(is_admitted);
            }
        }
        wanted.extend(day.reached().chain(month.reached()));
        // Cached rejections live four seconds.
        world.clock.advance(Duration::from_secs(5));
    }
    let stored = stored(&world);
    prop_assert_eq!(stored.iter().cloned().collect::<BTreeSet<_>>(), wanted);
    let distinct: BTreeSet<_> = stored.iter().collect();
    prop_assert_eq!(distinct.len(), stored.len(), "a threshold gave two events");
    Ok(())
}

/// Returns the window (day or month), the threshold in percent, and the number of the day or month for each stored
/// event.
fn stored(world: &World) -> Vec<(String, u64, i64)> {
    let now = world.clock.now().plus(HOUR);
    let read = |body: Value| {
        let [day, month] = periods(body["metadata"]["timestamp"].as_str().unwrap());
        let window = body["window"].as_str().unwrap().to_owned();
        let period = if window == "day" { day } else { month };
        (window, body["threshold"].as_u64().unwrap(), period)
    };
    let claimed = world.claim(now, LeaseToken(77), now.plus(HOUR));
    let bodies = claimed
        .iter()
        .map(|it| serde_json::from_slice(&it.event.body(EventsVersion::V1_1).unwrap()).unwrap());
    bodies.map(read).collect()
}

fn settings() -> Settings {
    Settings { events: EventsVersion::V1_1, session_ttl: YEAR, ..Settings::default() }
}

fn check(world: World, steps: &[Step]) -> Result<(), TestCaseError> {
    tokio::runtime::Runtime::new().unwrap().block_on(run(world, settings(), steps))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn each_threshold_gives_one_event_for_each_window_on_sqlite(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        check(World::with(settings()), &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn each_threshold_gives_one_event_for_each_window_on_postgres(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        check(World::on_postgres(settings()), &steps)?;
    }
}
