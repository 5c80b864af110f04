//! Accounts and servers at their limits: each state made on a real server of its own, and taken away again.

use super::{met, session};
use crate::database::conformance::fixture::{Fixture, error, store, text};
use crate::database::conformance::server::Server;
use crate::database::{DatabaseError, ErrorClass, Session};
use crate::model::Value;
use std::sync::Arc;

async fn connecting(fixture: &Fixture) -> DatabaseError {
    error(fixture.open(Vec::new()).connect().await)
}

/// Makes a state, sees what a new connection says, and takes the state away, after which a new one is good.
async fn while_it_is_so(fixture: &Fixture, make: &[&str], end: &[&str], code: i64, class: ErrorClass) {
    fixture.server().admin(make).await;
    let said = match fixture.open(Vec::new()).connect().await {
        Ok(_) => panic!("{code} was to be met after {make:?}"),
        Err(said) => said,
    };
    met(&said, code, class);
    assert!(said.broken, "{said}");
    fixture.server().admin(end).await;
    fixture.session(Vec::new()).await.probe().await.unwrap();
}

#[test]
fn accounts_that_are_not_let_in() {
    let server = Arc::new(Server::start(&[]));
    Fixture::on(Arc::clone(&server)).run(|fixture: Arc<Fixture>| async move {
        let account = fixture.schema().to_owned();
        let of = |what: &str| format!("ALTER USER {account} {what}");
        let all_rights = format!("GRANT ALL ON {account}.* TO {account}");
        let no_rights = format!("REVOKE ALL ON {account}.* FROM {account}");
        let password = of("IDENTIFIED BY 'pass'");
        let rights = ErrorClass::Rights;
        let lock = (of("ACCOUNT LOCK"), of("ACCOUNT UNLOCK"));
        while_it_is_so(&fixture, &[&lock.0], &[&lock.1], 4151, rights).await;
        while_it_is_so(&fixture, &[&of("PASSWORD EXPIRE")], &[&password], 1820, rights).await;
        let expired = ["SET GLOBAL disconnect_on_expired_password = 1", &of("PASSWORD EXPIRE")];
        while_it_is_so(&fixture, &expired, &[&password], 1862, rights).await;
        while_it_is_so(&fixture, &[&no_rights], &[&all_rights], 1044, rights).await;

        server.admin(&["SET GLOBAL max_password_errors = 1", &of("IDENTIFIED BY 'other'")]).await;
        met(&connecting(&fixture).await, 1045, rights);
        while_it_is_so(&fixture, &[], &[&password, "FLUSH PRIVILEGES"], 4150, rights).await;

        server.admin(&[&of("WITH MAX_USER_CONNECTIONS 1")]).await;
        let busy = fixture.session(Vec::new()).await;
        let any = of("WITH MAX_USER_CONNECTIONS 0");
        while_it_is_so(&fixture, &[], &[&any], 1226, ErrorClass::Outage).await;
        drop(busy);
    });
}

#[test]
fn a_column_that_may_not_be_read_is_a_matter_of_rights() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT, secret INT)").await;
        let account = fixture.schema().to_owned();
        fixture
            .server()
            .admin(&[
                &format!("REVOKE ALL ON {account}.* FROM {account}"),
                &format!("GRANT SELECT (id), UPDATE (id) ON {account}.t TO {account}"),
            ])
            .await;
        let mut session = session(&fixture, vec![store("UPDATE t SET secret = 1")]).await;
        met(&error(session.store(0, &[Vec::new()]).await), 1143, ErrorClass::Rights);
    });
}

/// Binary logging by statement, a system tablespace that cannot grow, no prepared statements left, read-only transactions.
#[test]
fn servers_that_take_no_work() {
    let server = Arc::new(Server::start(&[
        "--log-bin",
        "--binlog-format=STATEMENT",
        "--innodb-file-per-table=0",
        "--innodb-data-file-path=ibdata1:12M;ibdata2:8M",
    ]));
    Fixture::on(Arc::clone(&server)).run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, raw LONGTEXT)").await;
        let steps = || vec![store("INSERT INTO t (raw) VALUES (?)")];
        let row = [vec![text("a")]];
        let mut by_statement = session(&fixture, steps()).await;
        met(&error(by_statement.store(0, &row).await), 1665, ErrorClass::Misconfigured);
        drop(by_statement);
        server.admin(&["SET GLOBAL binlog_format = 'ROW'"]).await;

        server.admin(&["SET GLOBAL tx_read_only = 1"]).await;
        let mut read_only = session(&fixture, steps()).await;
        met(&error(read_only.store(0, &row).await), 1792, ErrorClass::Outage);
        server.admin(&["SET GLOBAL tx_read_only = 0"]).await;

        server.admin(&["SET GLOBAL max_prepared_stmt_count = 0"]).await;
        let mut held = session(&fixture, steps()).await;
        met(&error(held.store(0, &row).await), 1461, ErrorClass::Outage);
        server.admin(&["SET GLOBAL max_prepared_stmt_count = 16382"]).await;
        held.store(0, &row).await.unwrap();

        // As the server commits each row by itself, the last one that fits is stored and the next is not.
        let mebibyte = [vec![Value::Text("x".repeat(1 << 20))]];
        let said = loop {
            match held.store(0, &mebibyte).await {
                Ok(()) => {}
                Err(said) => break said,
            }
        };
        met(&said, 1114, ErrorClass::Outage);
        assert!(!said.broken, "{said}");
        // A tablespace that is full cannot even be cleaned up.
        server.stop();
    });
}
