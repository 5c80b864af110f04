//! Trial: what one event would do, by the very code that does it, with nothing stored and nothing sent.
//!
//! In:        an event, the job, and perhaps a session whose transaction can only read     Out: [`Trial`]
//! Order:     step by step, then the outputs
//! Fails:     what would make the event a reject ends the trial and is its outcome; a database that does not answer is an error
//! Not here:  what it looks like (cli)
//!
//! Stores are never run, so that a look-up sees the database as it is, without what an earlier step would have stored.

use super::aside::{Kind, Wrong, because, rule_of};
use super::attempt::{over_detail, unwritable};
use super::looked::{Looked, now};
use super::outputs::{OutputSetup, Sent};
use super::steps::{Bound, bound, missing_reason};
use crate::database::{DatabaseError, ErrorClass, Row, Session};
use crate::job::{JobSpec, Missing, RejectRule, Step};
use crate::model::{Event, Outgoing, Reason, ReasonCode};

/// What an event would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Each step of the job, up to one that rejects the event.
    pub steps: Vec<Tried>,
    /// Per output of the job, what it sends; none: it is not sent.
    pub outputs: Vec<Option<Outgoing>>,
    /// Why nothing of it would be stored or sent, and the rule for that.
    pub reject: Option<(Reason, RejectRule)>,
}

/// What becomes of one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Tried {
    /// It is for other records.
    NotFor,
    /// Its condition does not hold.
    NotMet,
    /// It is for each row of a list, and there are none for which it is run.
    NoRows,
    /// It would be run with these parameters, once per row.
    Stores(Vec<Row>),
    /// It would be asked with these parameters.
    WouldAsk(Row),
    /// It was asked with these parameters and found this row, if any.
    Asked(Row, Option<Row>),
}

/// Tries an event. Without a session nothing is asked, and look-ups give NULL.
///
/// # Errors
/// What the database says where the event is not to blame.
pub async fn try_event(
    spec: &JobSpec,
    setup: &OutputSetup,
    event: &Event,
    mut session: Option<&mut Box<dyn Session>>,
) -> Result<Trial, DatabaseError> {
    let mut looked = [Looked::new(event, spec.database.steps.len(), now())];
    let mut trial = Trial { steps: Vec::new(), outputs: Vec::new(), reject: None };
    for (number, step) in spec.database.steps.iter().enumerate() {
        let Bound { rows, .. } = bound(spec, &looked, &[0], step);
        let tried = match (step, rows.first().cloned()) {
            (_, None) => idle(spec, &looked, step),
            (Step::Store(_), Some(_)) => Tried::Stores(rows),
            (Step::Lookup(lookup), Some(parameters)) => match &mut session {
                None => Tried::WouldAsk(parameters),
                Some(session) => {
                    let found = match session.lookup(number, &rows).await {
                        Ok(found) => found.into_iter().next().flatten(),
                        Err(error) if error.class == ErrorClass::Reject && !error.broken => {
                            trial.steps.push(Tried::WouldAsk(parameters));
                            trial.reject(spec, Kind::Refused, because(ReasonCode::Refused, error.message));
                            return Ok(trial);
                        }
                        Err(error) => return Err(error),
                    };
                    if found.is_none() && lookup.missing == Missing::Reject {
                        trial.steps.push(Tried::Asked(parameters, None));
                        let reason = missing_reason(lookup.name.as_deref(), number);
                        trial.reject(spec, Kind::MissingLookup, reason);
                        return Ok(trial);
                    }
                    if let Some(slot) = looked.first_mut().and_then(|looked| looked.rows.get_mut(number)) {
                        slot.clone_from(&found);
                    }
                    Tried::Asked(parameters, found)
                }
            },
        };
        trial.steps.push(tried);
    }
    trial.send(spec, setup, &looked);
    Ok(trial)
}

/// Why a step is not run.
fn idle(spec: &JobSpec, looked: &[Looked<'_>], step: &Step) -> Tried {
    let tombstone = looked.first().is_some_and(|looked| looked.event.body.is_tombstone());
    let (on, for_each) = match step {
        Step::Lookup(lookup) => (lookup.on, None),
        Step::Store(store) => (store.on, store.for_each),
    };
    if !on.takes(tombstone) {
        return Tried::NotFor;
    }
    let unconditional = match step {
        Step::Store(store) if for_each.is_some() && store.when.is_some() => {
            let plain = Step::Store(crate::job::StoreStep { when: None, ..store.clone() });
            !bound(spec, looked, &[0], &plain).rows.is_empty()
        }
        _ => for_each.is_none(),
    };
    if unconditional { Tried::NotMet } else { Tried::NoRows }
}

impl Trial {
    fn reject(&mut self, spec: &JobSpec, kind: Kind, reason: Reason) {
        self.reject = Some((reason, rule_of(&spec.rejects, kind)));
    }

    fn send(&mut self, spec: &JobSpec, setup: &OutputSetup, looked: &[Looked<'_>]) {
        let Some(looked) = looked.first() else { return };
        match setup.of_event(looked) {
            Ok(Sent { records, of, .. }) => {
                if let Some(over) = records.iter().find_map(|record| setup.over_limit(record)) {
                    self.reject(spec, Kind::TooLarge, because(ReasonCode::TooLarge, over_detail(over)));
                }
                self.outputs = vec![None; spec.outputs.len()];
                for (number, record) in of.into_iter().zip(records) {
                    if let Some(slot) = self.outputs.get_mut(number) {
                        *slot = Some(record);
                    }
                }
            }
            Err(error) => {
                let Wrong { kind, reason, .. } = unwritable(error);
                self.reject(spec, kind, reason);
            }
        }
    }
}
