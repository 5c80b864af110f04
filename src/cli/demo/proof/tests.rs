//! A proof that cannot fail proves nothing: each fault is planted and must be found.

use super::*;

const CHANGES: u64 = 30;

fn shop() -> Shop {
    Shop { orders: 3, plant_every: 10 }
}

/// The tables and the collection of a job that did everything right.
struct World {
    _dir: tempfile::TempDir,
    database: std::path::PathBuf,
    found: Collected,
}

fn insert(number: u64) -> String {
    let change = shop().change(number);
    let (id, name, total) = (change.id(), change.customer_name().replace('\'', "''"), change.total());
    format!(
        "INSERT INTO order_history (id, change, customer_name, total) VALUES ('{id}', {number}, '{name}', '{total}');
         INSERT INTO orders VALUES ('{id}', {number}, 1, '', '{total}', NULL)
         ON CONFLICT (id) DO UPDATE SET change = excluded.change;"
    )
}

fn world(numbers: impl Iterator<Item = u64>) -> World {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("shop.db");
    let onlooker = Onlooker::open(&database).unwrap();
    onlooker.execute(include_str!("../schema.sql")).unwrap();
    onlooker
        .execute(
            "CREATE TABLE tidegate_frontier (job TEXT, next_offset INT);
             INSERT INTO tidegate_frontier VALUES ('demo', 20), ('demo', 13), ('other', 7)",
        )
        .unwrap();
    let mut found = Collected::default();
    for number in numbers {
        onlooker.execute(&insert(number)).unwrap();
        found.outputs.take(number, Some(shop().change(number).order), true);
    }
    (1..=3).for_each(|planted| found.letters.take(planted, None, true));
    World { _dir: dir, database, found }
}

impl World {
    fn prove(&self) -> Proof {
        prove(shop(), CHANGES, &self.database, &self.found).unwrap()
    }

    fn sql(&self, statements: &str) {
        Onlooker::open(&self.database).unwrap().execute(statements).unwrap();
    }
}

#[track_caller]
fn assert_fails(world: &World, because: &str) {
    let proof = world.prove();
    assert!(!proof.holds(), "{proof:?}");
    assert!(proof.line().contains(because), "{because}: {}", proof.line());
}

#[test]
fn everything_right_holds() {
    let proof = world(1..=CHANGES).prove();
    assert!(proof.holds(), "{proof:?}");
    assert_eq!(proof.line(), "read 33, stored 30, emitted 30, rejected 3, 0 lost, 0 doubled, 0 out of order");
}

#[test]
fn a_lost_change_is_found_in_both_places() {
    assert_fails(&world((1..=CHANGES).filter(|number| *number != 17)), "2 lost");
}

#[test]
fn a_doubled_row_is_found() {
    let world = world(1..=CHANGES);
    let change = shop().change(5);
    world.sql(&format!(
        "INSERT INTO order_history (id, change, customer_name, total) VALUES ('{}', 5, '{}', '{}')",
        change.id(),
        change.customer_name(),
        change.total()
    ));
    assert_fails(&world, "1 doubled");
}

#[test]
fn a_doubled_output_and_a_doubled_letter_are_found() {
    let mut world = world(1..=CHANGES);
    world.found.outputs.take(5, Some(shop().change(5).order), true);
    world.found.letters.take(1, None, true);
    assert_fails(&world, "2 doubled");
}

#[test]
fn changes_of_one_order_that_come_in_the_wrong_order_are_found() {
    let backwards = (1..=CHANGES).rev();
    let world = world(backwards);
    assert!(!world.prove().holds());
    assert!(!world.prove().line().contains(" 0 out of order"));
}

#[test]
fn an_order_whose_state_is_not_its_newest_is_found() {
    let world = world(1..=CHANGES);
    world.sql("UPDATE orders SET change = 1 WHERE id = (SELECT id FROM order_history WHERE change = 30)");
    assert_fails(&world, "1 out of order");
}

#[test]
fn a_row_that_holds_something_else_is_found() {
    let world = world(1..=CHANGES);
    world.sql("UPDATE order_history SET customer_name = 'nobody' WHERE change = 3");
    assert!(!world.prove().holds());
}

#[test]
fn a_frontier_that_stands_elsewhere_is_found() {
    let world = world(1..=CHANGES);
    world.sql("UPDATE tidegate_frontier SET next_offset = 12 WHERE next_offset = 13");
    assert_fails(&world, "read 32,");
}
