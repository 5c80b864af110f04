//! Stream: records by seed, of few keys that come again and again.
//!
//! In:        a job     Out: records for one partition, in order
//! Holds:     keys that are the same to some column only, values that are refused, tombstones, records that cannot be read
//! Not here:  when they arrive: all are there before the job starts, so that one transaction has many of them

use super::chance::Chance;
use super::job::Job;
use super::schema::Style;
use tidegate::model::Record;
use tidegate::testing::Random;

/// Events of a stream, about.
const EVENTS: (usize, usize) = (30, 110);

pub fn records(random: &mut Random, job: &Job) -> Vec<Record> {
    let mut keys: Vec<&str> = job.taste.domain.keys().to_vec();
    if job.taste.style == Style::Own {
        // With a blank the Kafka key is another one than the document's.
        keys.retain(|key| !key.contains(' '));
    }
    while keys.len() > 3 && random.percent(70) {
        keys.remove(random.between(0, keys.len() - 1));
    }
    let mut left = random.between(EVENTS.0, EVENTS.1);
    let mut records = Vec::new();
    while left > 0 {
        let key = random.one(&keys).to_owned();
        let (value, events) = if random.percent(5) {
            (None, 1)
        } else if job.several {
            let count = random.between(1, 5);
            let events: String = (0..count).map(|_| event(random, job, &keys, None)).collect();
            (Some(format!("<r>{events}</r>")), count)
        } else {
            (Some(event(random, job, &keys, Some(&key))), 1)
        };
        left = left.saturating_sub(events);
        records.push(Record {
            timestamp_ms: Some(1_700_000_000_000 + i64::try_from(left).expect("it is small")),
            key: Some(key.into()),
            headers: Vec::new(),
            value: value.map(Into::into),
        });
    }
    records
}

fn event(random: &mut Random, job: &Job, keys: &[&str], key: Option<&str>) -> String {
    let key = match key {
        Some(key) if random.percent(85) => key,
        _ => random.one(keys),
    };
    let other = if random.percent(50) { key } else { random.one(keys) };
    let mut text = format!("<e k=\"{key}\" o=\"{other}\"");
    if random.percent(70) {
        text += &format!(" u=\"{}\"", random.one(&["x", "X", "y", "w1", "w2", "x "]));
    }
    if random.percent(85) {
        let long = job.taste.rough && random.percent(6);
        let s = if long { "longer than it may be" } else { random.one(&["x", "y", "z", "X", "x "]) };
        text += &format!(" s=\"{s}\"");
    }
    if random.percent(70) {
        text += &format!(" d=\"{}.{}5\"", random.below(30), random.below(10));
    }
    let unreadable = random.percent(1);
    text += &format!(" n=\"{}\"", if unreadable { "none".to_owned() } else { random.below(10).to_string() });
    text += ">";
    for _ in 0..random.below(4) {
        text += &format!("<l a=\"{}\" b=\"{}\"/>", random.one(keys), random.below(10));
    }
    text + "</e>"
}
