//! How many messages the ledger's part of a transaction takes.

use super::session;
use crate::database::conformance::fixture::Fixture;
use crate::database::mysql::session::MySqlSession;
use crate::database::{Advance, Session};
use crate::model::{BatchNumber, Incarnation, KeyGroup};
use mysql_async::prelude::Queryable;
use std::sync::Arc;

async fn questions(session: &mut MySqlSession) -> u64 {
    let sql = "SHOW SESSION STATUS LIKE 'Questions'";
    let (_, count): (String, u64) = session.conn().unwrap().query_first(sql).await.unwrap().unwrap();
    count
}

/// Outbox rows in, confirmed ones out, positions: whatever the number of key groups is.
#[test]
fn a_transaction_of_many_key_groups_writes_the_ledger_by_three_statements() {
    const GROUPS: u32 = 64;
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut session = session(&fixture, Vec::new()).await;
        session.create_ledger().await.unwrap();
        let groups: Vec<KeyGroup> = (0..GROUPS).map(KeyGroup).collect();
        session.claim(&groups).await.unwrap();
        let mut asked = Vec::new();
        for batch in 1_u64..=5 {
            let of = |group: &KeyGroup| Advance {
                group: *group,
                incarnation: Incarnation(1),
                batch: BatchNumber(batch),
                positions: "p".to_owned(),
                outbox: (group.0 > 0).then(|| b"o".to_vec()),
                confirmed: batch.checked_sub(1).filter(|before| *before > 0).map(BatchNumber),
                cleared: BatchNumber(batch.saturating_sub(2)),
            };
            let writes: Vec<Advance> = groups.iter().map(of).collect();
            session.begin().await.unwrap();
            let before = questions(&mut session).await;
            assert!(session.advance(&writes).await.unwrap());
            // Less the question itself.
            asked.push(questions(&mut session).await - before - 1);
            session.commit().await.unwrap();
        }
        // The second batch looks for the rows of the first, as the first one of a run does. A statement that is new is prepared.
        assert_eq!(asked[3..], [3, 3], "{asked:?}");
        assert_eq!(session.outbox(&groups).await.unwrap().len(), 63);
    });
}
