//! The tables of parked events: how an older ledger gets them, and whose they are.

use super::fixture::{Fixture, error};
use super::parked::{GROUP, all, at, event, id, mark, park, work};
use crate::database::{ErrorClass, LedgerState, ParkedMark, Session, ledger_upgrade, open};
use crate::model::Incarnation;
use std::sync::Arc;

/// Makes of the ledger what version 2 had made.
async fn put_back_to_version_2(fixture: &Fixture) {
    for sql in [
        "DROP TABLE tidegate_parked_key",
        "DROP TABLE tidegate_parked",
        "UPDATE tidegate_ledger SET version = 2",
        "INSERT INTO tidegate_job (job, key_groups, fingerprint, ledger_id, resets) VALUES ('orders', 2, 'f', 'abc', 4)",
        "INSERT INTO tidegate_position (job, key_group, incarnation, batch, output_batch, positions, confirmed_batch) \
         VALUES ('orders', 2, 3, 9, 8, 'a:0=4', 7)",
    ] {
        fixture.sql(sql).await;
    }
}

async fn is_up(session: &mut dyn Session) {
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Ready);
    assert_eq!(session.job_row().await.unwrap().unwrap().resets, 4);
    assert_eq!(session.positions().await.unwrap()[0].incarnation, Incarnation(3));
    park(session, &[event(1, at(10, 0))]).await;
    assert_eq!(all(session).await, [event(1, at(10, 0))]);
}

pub(super) async fn a_ledger_of_version_2_is_brought_up(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    put_back_to_version_2(&fixture).await;
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Older(2));
    let older = error(session.job_row().await);
    assert_eq!(older.class, ErrorClass::Misconfigured);
    assert!(older.message.contains("version 2") && older.message.contains("tidegate run"), "{older}");
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let database = fixture.open(Vec::new());
        tasks.push(tokio::spawn(async move { database.connect().await?.create_ledger().await }));
    }
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    is_up(&mut *session).await;
}

pub(super) async fn version_2_printed_statements_bring_it_up_as_well(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    put_back_to_version_2(&fixture).await;
    let statements = ledger_upgrade(&fixture.kind, 2);
    assert!(statements.iter().all(|sql| !sql.contains("ALTER")), "{statements:?}");
    for sql in statements {
        fixture.sql(&sql).await;
    }
    is_up(&mut *session).await;
}

pub(super) async fn jobs_of_one_schema_have_their_own(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    let other = open(&fixture.spec(Vec::new()), "Orders").unwrap();
    let mut other = other.connect().await.unwrap();
    park(&mut *session, &[event(1, at(1, 0))]).await;
    park(&mut *other, &[event(1, at(1, 0)), event(2, at(1, 1))]).await;
    assert_eq!(mark(&mut *other, 1, ParkedMark::Retry, &[]).await, 1);
    assert_eq!(all(&mut *session).await, [event(1, at(1, 0))]);
    assert_eq!(session.parked_keys(&[GROUP]).await.unwrap(), [(GROUP, id(1))]);
    assert_eq!(session.marked_groups(&[GROUP]).await.unwrap(), []);
    assert_eq!((work(&mut *session).await, work(&mut *other).await), (vec![], vec![at(1, 0)]));
}

pub(super) async fn rows_that_nobody_here_has_written_are_refused(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    park(&mut *session, &[event(1, at(1, 0))]).await;
    for sql in ["UPDATE tidegate_parked SET headers = 'x'", "UPDATE tidegate_parked SET state = 9"] {
        let sql = if fixture.is_mariadb() { sql.to_owned() } else { sql.replace("'x'", "x'00'") };
        fixture.sql(&sql).await;
        let strange = error(session.parked(&Default::default(), None, 9, true).await);
        assert_eq!(strange.class, ErrorClass::Misconfigured);
        assert!(strange.message.contains("tidegate_parked"), "{strange}");
    }
}
