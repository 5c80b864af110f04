//! Every error that a server gives, provoked for real.

use super::{met, session};
use crate::database::conformance::fixture::{Fixture, error, runtime, store, text};
use crate::database::conformance::server::Server;
use crate::database::mysql::MySql;
use crate::database::{Database, DatabaseError, ErrorClass, Session, open};
use crate::job::{DatabaseKind, Secret};
use crate::model::{KeyGroup, Value};
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn rights_that_lack_are_named() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT)").await;
        let account = fixture.schema().to_owned();
        let server = fixture.server();
        server
            .admin(&[
                &format!("REVOKE ALL ON {account}.* FROM {account}"),
                &format!("GRANT SELECT ON {account}.t TO {account}"),
            ])
            .await;
        let mut reader = session(&fixture, vec![store("INSERT INTO t (id) VALUES (?)")]).await;
        let refused = error(reader.store(0, &[vec![Value::Int(1)]]).await);
        met(&refused, 1142, ErrorClass::Rights);
        let findings = reader.check_statements().await.unwrap();
        assert!(findings.len() == 1 && findings[0].message.contains("1142"), "{findings:?}");
        let ledger = error(reader.create_ledger().await);
        assert_eq!(ledger.class, ErrorClass::Rights);
        assert!(
            ledger.message.contains("tidegate_position") && ledger.message.contains("tidegate check"),
            "{ledger}"
        );
        drop(reader);
        server.admin(&[&format!("ALTER USER {account} IDENTIFIED BY 'other'")]).await;
        let refused = error(fixture.open(Vec::new()).connect().await);
        met(&refused, 1045, ErrorClass::Rights);
        assert!(refused.broken);
        assert!(!format!("{refused:?}").contains("pass'"));
    });
}

#[test]
fn a_schema_that_is_not_there_is_misconfigured() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut spec = fixture.spec(Vec::new());
        if let DatabaseKind::MySql { database, user, password, .. } = &mut spec.kind {
            database.push_str("_not");
            "root".clone_into(user);
            *password = fixture.server().admin.pass().map(|pass| Secret(pass.to_owned()));
        }
        let refused = error(open(&spec, "orders").unwrap().connect().await);
        met(&refused, 1049, ErrorClass::Misconfigured);
    });
}

#[test]
fn a_killed_connection_is_an_outage() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut victim = session(&fixture, Vec::new()).await;
        victim.create_ledger().await.unwrap();
        victim.begin().await.unwrap();
        let kill = format!("KILL {}", victim.conn().unwrap().id());
        fixture.server().admin(&[&kill]).await;
        let gone = loop {
            match victim.probe().await {
                // The server ends a connection when it looks at it next.
                Ok(()) => tokio::task::yield_now().await,
                Err(error) => break error,
            }
        };
        assert_eq!((gone.class, gone.broken), (ErrorClass::Outage, true), "{gone}");
        assert_eq!(error(victim.commit().await).class, ErrorClass::Outage);
        fixture.session(Vec::new()).await.probe().await.unwrap();
    });
}

#[test]
fn a_server_that_never_answers_is_an_outage_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = Fixture::sqlite().spec(Vec::new());
    spec.kind = DatabaseKind::MySql {
        host: "127.0.0.1".to_owned(),
        port: silent.local_addr().unwrap().port(),
        user: "app".to_owned(),
        password: None,
        password_file: None,
        database: "shop".to_owned(),
    };
    runtime().block_on(async {
        let mut database = MySql::new(&spec, "orders").unwrap();
        database.connect_deadline = Duration::from_millis(100);
        let (accepted, frozen) = {
            let accepting = std::thread::spawn(move || (silent.accept().unwrap().0, silent));
            let frozen = error(database.connect().await);
            (accepting.join().unwrap(), frozen)
        };
        assert_eq!((frozen.class, frozen.broken), (ErrorClass::Outage, true));
        assert!(frozen.message.contains("no answer within 100ms"), "{frozen}");
        // Nothing of the attempt is left: the peer sees its end, though it never answers.
        let (mut accepted, silent) = accepted;
        accepted.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        assert_eq!(accepted.read(&mut [0; 16]).unwrap(), 0);
        drop((accepted, silent));
        let refused = error(database.connect().await);
        assert_eq!((refused.class, refused.broken), (ErrorClass::Outage, true));
        assert!(refused.message.contains("refused"), "{refused}");
    });
}

/// On a server of its own, since it is made unfit for everybody.
#[test]
fn outages_of_the_whole_server() {
    let server = Arc::new(Server::start(&["--max-connections=10", "--max-heap-table-size=16384"]));
    Fixture::on(Arc::clone(&server)).run(|fixture: Arc<Fixture>| async move {
        let mut held = session(&fixture, vec![store("INSERT INTO m VALUES (?)")]).await;
        held.create_ledger().await.unwrap();
        held.probe().await.unwrap();

        server.admin(&["SET GLOBAL read_only = 1"]).await;
        let read_only = error(held.probe().await);
        met(&read_only, 1290, ErrorClass::Outage);
        assert!(read_only.broken);
        assert_eq!(error(held.claim(&[KeyGroup(1)]).await).class, ErrorClass::Outage);
        server.admin(&["SET GLOBAL read_only = 0"]).await;
        held.probe().await.unwrap();

        fixture.sql("CREATE TABLE m (v CHAR(200)) ENGINE=MEMORY").await;
        let rows = vec![vec![text("x")]; 200];
        let full = error(held.store(0, &rows).await);
        met(&full, 1114, ErrorClass::Outage);

        let database = fixture.open(Vec::new());
        let mut taken = Vec::new();
        let full: DatabaseError = loop {
            match database.connect().await {
                Ok(session) => taken.push(session),
                Err(error) => break error,
            }
        };
        met(&full, 1040, ErrorClass::Outage);
        assert!(full.broken);
        drop(taken);

        held.begin().await.unwrap();
        server.stop();
        let gone = error(held.commit().await);
        assert_eq!((gone.class, gone.broken), (ErrorClass::Outage, true), "{gone}");
        let refused = error(database.connect().await);
        assert_eq!((refused.class, refused.broken), (ErrorClass::Outage, true), "{refused}");
    });
}
