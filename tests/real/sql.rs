//! Plain SQL, blocking, with a deadline on every question: a frozen server must not freeze the test.

use mysql_async::prelude::{FromRow, Queryable};
use mysql_async::{Conn, Opts};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A connection that is made anew whenever it is lost.
pub struct Sql {
    runtime: Runtime,
    url: String,
    connection: Option<Conn>,
}

impl Sql {
    /// `schema`: the schema to be in; it need not exist before the first question that needs it.
    pub fn new(db: &str, schema: &str) -> Sql {
        Sql::at(format!("mysql://app:app@{db}/{schema}"))
    }

    /// The server's own account, in no schema.
    pub fn of_root(socket: &Path) -> Sql {
        Sql::at(format!("mysql://root@localhost/?socket={}", socket.display()))
    }

    fn at(url: String) -> Sql {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Sql { runtime, url, connection: None }
    }

    /// Runs statements whose answers do not matter.
    pub fn run(&mut self, statement: &str) {
        self.ask(Duration::from_secs(60), async |connection| connection.query_drop(statement).await)
            .unwrap_or_else(|e| panic!("{e}\n{statement}"));
    }

    /// Runs a statement if the server answers.
    pub fn try_run(&mut self, statement: &str) {
        self.ask(Duration::from_secs(5), async |connection| connection.query_drop(statement).await).ok();
    }

    /// The first row, or `None` when there is none, or no server that answers within a second.
    pub fn peek<T: FromRow + Send + 'static>(&mut self, query: &str) -> Option<T> {
        self.ask(Duration::from_secs(1), async |connection| connection.query_first(query).await).ok()?
    }

    /// Takes every row, one by one.
    pub fn each<T: FromRow + Send + 'static>(&mut self, query: &str, mut take: impl FnMut(T)) {
        self.ask(Duration::from_secs(120), async |connection| {
            connection.query_iter(query).await?.for_each(|row| take(mysql_async::from_row(row))).await
        })
        .unwrap_or_else(|e| panic!("{e}\n{query}"));
    }

    fn ask<T>(
        &mut self,
        deadline: Duration,
        question: impl AsyncFnOnce(&mut Conn) -> mysql_async::Result<T>,
    ) -> Result<T, String> {
        let (runtime, url, slot) = (&self.runtime, &self.url, &mut self.connection);
        let answer = runtime.block_on(async {
            tokio::time::timeout(deadline, async {
                let mut connection = match slot.take() {
                    Some(connection) => connection,
                    None => Conn::new(Opts::from_url(url)?).await?,
                };
                let answer = question(&mut connection).await?;
                // Only a connection that has answered is kept.
                *slot = Some(connection);
                Ok::<T, mysql_async::Error>(answer)
            })
            .await
        });
        match answer {
            Ok(answer) => answer.map_err(|e| e.to_string()),
            Err(_) => Err(format!("no answer within {deadline:?}")),
        }
    }
}
