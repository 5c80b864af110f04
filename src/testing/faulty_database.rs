//! Faulty database: another database, behind a wire that can be frozen and cut and that loses calls and answers.
//!
//! In:        a [`Database`], a [`Link`], faults     Out: sessions on it
//! Fails:     outage and broken: a connection that is refused or lost; contention; rights: the link is cut

use super::faulty_session::FaultySession;
use super::memory_database::failed;
use super::{DatabaseFaults, Link};
use crate::database::{Database, ErrorClass, Pending, Session};
use std::sync::Arc;

/// A database behind a wire.
#[derive(Clone)]
pub struct FaultyDatabase {
    inner: Arc<dyn Database>,
    link: Arc<Link>,
    faults: DatabaseFaults,
}

impl FaultyDatabase {
    /// Puts a wire in front of a database.
    pub fn new(inner: Arc<dyn Database>, link: Arc<Link>, faults: DatabaseFaults) -> FaultyDatabase {
        FaultyDatabase { inner, link, faults }
    }
}

impl Database for FaultyDatabase {
    fn connect(&self) -> Pending<'_, Box<dyn Session>> {
        Box::pin(async move {
            if !self.link.pass().await {
                return Err(failed(ErrorClass::Rights, "this process was killed"));
            }
            if self.link.chance(self.faults.refused) {
                self.link.say("database: connection refused");
                return Err(failed(ErrorClass::Outage, "connection refused"));
            }
            let inner = self.inner.connect().await?;
            let session: Box<dyn Session> =
                Box::new(FaultySession::new(inner, Arc::clone(&self.link), self.faults));
            Ok(session)
        })
    }
}
