//! Outputs that cannot be made: the event is set aside with a stable code and nothing of it stays; others of its record go on.

use super::super::instance::{How, Instance, PATIENCE};
use super::super::world::{DEAD, OUTPUT, World};
use super::check::header;
use tidegate::cluster::Ended;
use tidegate::job::RejectRule;
use tidegate::model::Record;

fn run(world: &World) {
    let mut instance = Instance::start(world, "run", How::well(2));
    assert!(matches!(instance.wait(PATIENCE), Some(Ok(Ended::Drained))), "{:?}", instance.ended);
}

#[test]
fn a_topic_that_is_not_allowed_and_a_place_that_is_not_there_are_rejects_of_one_event() {
    let world = World::of_many(Some(RejectRule::DeadLetter));
    let events = [
        r#"<e key="k1" n="1"><b/></e>"#,
        r#"<e key="k1" n="2" x="yes" to="nowhere"><b/></e>"#,
        r#"<e key="k1" n="4" x="yes"><b/></e>"#,
        // The first output has no condition: without its place the event cannot be read.
        r#"<e key="k1" n="5"/>"#,
        r#"<e key="k1" n="6" x="yes" to="extra-a"><b/></e>"#,
    ];
    let value = Some(format!("<r>{}</r>", events.concat()).into());
    let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value };
    world.broker.produce("in-a", 0, record).expect("the partition is there");
    run(&world);

    let letters = world.broker.committed(DEAD);
    let said = |name: &str| -> Vec<String> {
        letters.iter().filter_map(|letter| header(&letter.record, name)).collect()
    };
    let mut reasons: Vec<(String, String)> =
        said("tidegate-event").into_iter().zip(said("tidegate-reason")).collect();
    reasons.sort();
    let reason = |event: &str, code: &str| (event.to_owned(), code.to_owned());
    let wanted = [reason("1", "output_topic"), reason("2", "output_topic"), reason("3", "output_place")];
    assert_eq!(reasons, wanted);
    let details = said("tidegate-detail").concat();
    assert!(!details.contains("nowhere"), "no value is in a reason: {details}");
    let numbers: Vec<String> = world
        .tables()
        .rows
        .iter()
        .filter(|row| row.step == 1)
        .map(|row| format!("{:?}", row.row[1]))
        .collect();
    assert_eq!(numbers, ["Int(1)", "Int(6)"]);
    assert_eq!(world.broker.committed(OUTPUT).len(), 3, "two elements and a paper");
}

#[test]
fn a_record_with_more_events_than_the_limit_is_unreadable_as_a_whole() {
    let mut world = World::of_many(None);
    let mut spec = (*world.spec).clone();
    spec.limits.events_per_record = 3;
    world.spec = spec.into();
    for count in [3, 4] {
        let event = |n: i32| format!(r#"<e key="k1" n="{}"><b/></e>"#, count * 10 + n);
        let value = Some(format!("<r>{}</r>", (0..count).map(event).collect::<String>()).into());
        let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value };
        world.broker.produce("in-a", 0, record).expect("the partition is there");
    }
    run(&world);
    assert_eq!(world.broker.committed(OUTPUT).len(), 3);
    let letters = world.broker.committed(DEAD);
    let [letter] = &letters[..] else { panic!("{} letters", letters.len()) };
    assert_eq!(header(&letter.record, "tidegate-reason").as_deref(), Some("limit"));
    assert_eq!(header(&letter.record, "tidegate-event"), None, "it is about all of the record");
    let detail = header(&letter.record, "tidegate-detail").expect("a detail");
    assert!(detail.contains("limits.events_per_record"), "{detail}");
}
