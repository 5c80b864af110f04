//! Parked events in memory: the scripts that both engines pass.

use crate::database::ErrorClass;
use crate::database::conformance::{parked, parked_scripts};
use crate::model::Value;
use crate::testing::{MemoryDatabase, MemoryStep};
use std::sync::Arc;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn database(refuses: Option<(usize, Value)>) -> Arc<MemoryDatabase> {
    MemoryDatabase::new(vec![MemoryStep::Store { unique: vec![0], refuses }], None)
}

macro_rules! in_memory {
    ($($module:ident::$name:ident),+ $(,)?) => {
        $(#[test] fn $name() { runtime().block_on(parked::$module::$name(database(None).handle())); })+
    };
}

parked_scripts!(in_memory);

#[test]
fn what_the_schema_refuses_it_takes_when_it_is_mended() {
    runtime().block_on(async {
        let database = database(Some((0, Value::Int(7))));
        let mut session = database.handle().connect().await.unwrap();
        let rows = [vec![Value::Int(6)], vec![Value::Int(7)]];
        session.begin().await.unwrap();
        let refused = session.store(0, &rows).await.unwrap_err();
        assert_eq!((refused.class, refused.row), (ErrorClass::Reject, Some(1)));
        session.rollback().await.unwrap();
        database.mend();
        session.begin().await.unwrap();
        session.store(0, &rows).await.unwrap();
        session.commit().await.unwrap();
        assert_eq!(database.tables().rows.len(), 2);
    });
}
