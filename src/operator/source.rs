//! Source: reads its partitions and gives each handful of records an epoch.
//!
//! In:        partitions p with p mod workers = this worker, from the job's frontier on; key groups of this worker of which
//!            somebody wants parked events tried
//! Out:       records @ epoch, and beside them what the epoch covers: positions and bytes; for the audit each record. Tickets
//!            @ epoch for those key groups
//! Holds:     the capability of its next epoch, until it stops reading
//! Order:     per partition by offset
//! Fails:     position gone -> halt; broker out -> keeps asking and says so
//! Not here:  no back pressure of its own (the reader waits for the budget), no committing (5-commit)
//!
//! Epochs are Lamport clocks. A source mints its next epoch when it has records, and tells the other sources; a source
//! that has nothing to read steps behind the newest epoch it has heard of. So an idle partition never holds back the
//! frontier, nobody wakes up just to let time pass, and no clocks need to agree.

mod marks;
mod reader;

pub use marks::{AskMarks, Marks};
pub use reader::{Covered, Feed, Handful, ReaderSetup};

use super::account::{Accounts, Tally, Tap, Way};
use super::mailbox::Mailbox;
use super::stop::StopRequest;
use crate::kafka::ReadRecord;
use crate::model::{Coordinates, Epoch, KeyGroup};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::vec::Broadcast;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::dataflow::{Scope, StreamVec};

/// What the source gives.
pub struct Source<'scope> {
    /// Records in their epochs.
    pub records: StreamVec<'scope, Epoch, ReadRecord>,
    /// What each epoch covers.
    pub covered: StreamVec<'scope, Epoch, Covered>,
    /// Key groups of which parked events are to be tried.
    pub tickets: StreamVec<'scope, Epoch, KeyGroup>,
    /// For the audit: what was read.
    pub accounts: Accounts<'scope>,
}

/// Adds the source. `setup` is consumed by a reader of its own.
pub fn source<'scope>(
    scope: Scope<'scope, Epoch>,
    setup: ReaderSetup,
    audited: bool,
    stop: StopRequest,
) -> Source<'scope> {
    let mut builder = OperatorBuilder::new("1-source".to_owned(), scope);
    let wake = scope.worker().sync_activator_for(builder.operator_info().address.to_vec());
    let (handle, heard): (_, StreamVec<'scope, Epoch, Epoch>) = scope.feedback(Default::default());
    let (records_out, records) = builder.new_output::<Vec<ReadRecord>>();
    let (covered_out, covered) = builder.new_output::<Vec<Covered>>();
    let (minted_out, minted) = builder.new_output::<Vec<Epoch>>();
    let (tickets_out, tickets) = builder.new_output::<Vec<KeyGroup>>();
    let (mut tap, accounts) = Tap::new(&mut builder, audited);
    // Behind the outputs and with no summary to any of them: what is heard from other sources must not hold back what
    // this one says.
    let mut heard = builder.new_input_connection(heard, Pipeline, []);
    let mut records_out = OutputBuilder::<_, CapacityContainerBuilder<Vec<ReadRecord>>>::from(records_out);
    let mut covered_out = OutputBuilder::<_, CapacityContainerBuilder<Vec<Covered>>>::from(covered_out);
    let mut minted_out = OutputBuilder::<_, CapacityContainerBuilder<Vec<Epoch>>>::from(minted_out);
    let mut tickets_out = OutputBuilder::<_, CapacityContainerBuilder<Vec<KeyGroup>>>::from(tickets_out);

    let (letters, mailbox) = super::mailbox::mailbox(setup.host.wake(wake));
    let mut waits = marks::watch(&setup, letters.clone());
    let reader = reader::spawn(setup, letters);
    builder.build(move |capabilities| {
        let mut clock = Clock::new(capabilities);
        let mut read = Tally::default();
        let mut has_ended = false;
        move |_frontiers| {
            let _alive = &reader;
            let mut newest = None;
            heard.for_each(|_, data| newest = newest.max(data.drain(..).max()));
            if let Some(newest) = newest {
                clock.step_behind(newest);
            }
            let Some(caps) = clock.capabilities() else { return };
            let Collected { handfuls, marked, unmarked, ended } = collect(&mailbox, &stop);
            has_ended |= ended;
            waits &= !unmarked;
            if !handfuls.is_empty() || !marked.is_empty() {
                let (mut records, mut covered) = (records_out.activate(), covered_out.activate());
                let (mut records, mut covered) =
                    (records.session(&caps.records), covered.session(&caps.covered));
                for handful in handfuls {
                    if tap.is_on() {
                        account(&handful.records, *caps.records.time(), &mut read);
                    }
                    records.give_iterator(handful.records.into_iter());
                    covered.give(handful.covered);
                }
                if !marked.is_empty() {
                    tickets_out.activate().session(&caps.tickets).give_iterator(marked.into_iter());
                }
                minted_out.activate().session(&caps.minted).give(*caps.minted.time());
                drop((records, covered));
                if let Some(capability) = &caps.accounts {
                    tap.give(capability, &mut read, Way::Expected);
                }
                clock.tick();
            }
            if has_ended && !waits {
                clock.stop();
            }
        }
    });
    minted.broadcast().connect_loop(handle);
    Source { records, covered, tickets, accounts }
}

/// Each record has a first event; 2-decode accounts for the further ones.
fn account(records: &[ReadRecord], epoch: Epoch, read: &mut Tally) {
    for record in records {
        read.add(Coordinates { at: record.at, offset: record.offset, index: 0 }, epoch);
    }
}

/// Everything that the reader, and who looks for marks, have left.
#[derive(Default)]
struct Collected {
    handfuls: Vec<Handful>,
    marked: Vec<KeyGroup>,
    unmarked: bool,
    /// The reader has read its last.
    ended: bool,
}

fn collect(mailbox: &Mailbox<Feed>, stop: &StopRequest) -> Collected {
    let mut collected = Collected::default();
    for letter in mailbox.take() {
        match letter {
            Feed::Handful(handful) => collected.handfuls.push(handful),
            Feed::Marked(groups) => collected.marked.extend(groups),
            Feed::Unmarked => collected.unmarked = true,
            Feed::Ended => collected.ended = true,
            Feed::Halt(halt) => stop.halt(halt),
        }
    }
    collected
}

/// The capabilities of the next epoch, one per output.
struct Capabilities {
    records: Capability<Epoch>,
    covered: Capability<Epoch>,
    minted: Capability<Epoch>,
    tickets: Capability<Epoch>,
    accounts: Option<Capability<Epoch>>,
}

/// The Lamport clock.
struct Clock(Option<Capabilities>);

impl Clock {
    /// In the order of the outputs; the last one is there in an audited job.
    fn new(capabilities: Vec<Capability<Epoch>>) -> Clock {
        let mut rest = capabilities.into_iter();
        let first = rest.next().zip(rest.next()).zip(rest.next()).zip(rest.next());
        Clock(first.map(|(((records, covered), minted), tickets)| Capabilities {
            records,
            covered,
            minted,
            tickets,
            accounts: rest.next(),
        }))
    }

    fn capabilities(&self) -> Option<&Capabilities> {
        self.0.as_ref()
    }

    fn move_to(&mut self, epoch: Epoch) {
        if let Some(caps) = &mut self.0 {
            caps.records.downgrade(&epoch);
            caps.covered.downgrade(&epoch);
            caps.minted.downgrade(&epoch);
            caps.tickets.downgrade(&epoch);
            if let Some(accounts) = &mut caps.accounts {
                accounts.downgrade(&epoch);
            }
        }
    }

    fn now(&self) -> Option<Epoch> {
        self.0.as_ref().map(|caps| *caps.records.time())
    }

    fn tick(&mut self) {
        if let Some(now) = self.now() {
            self.move_to(now.saturating_add(1));
        }
    }

    fn step_behind(&mut self, heard: Epoch) {
        if self.now().is_some_and(|now| now <= heard) {
            self.move_to(heard.saturating_add(1));
        }
    }

    fn stop(&mut self) {
        self.0 = None;
    }
}
