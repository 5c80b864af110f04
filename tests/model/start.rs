//! Start: the steps of `cluster/start.rs`, `cluster/start/outbox.rs` and `cluster/start/parked.rs`, in their order, one at a time.

use crate::broken::Broken;
use crate::database::{Database, index};
use crate::kafka::{Content, Kafka, Sent};
use crate::plan::{Event, GROUPS, Plan, key_id};
use crate::run::{Running, own_id};
use std::collections::BTreeMap;
use tidegate::model::{BatchNumber, Incarnation, KeyGroup, NextOffset, Places};
use tidegate::protocol::gate::Claimed;
use tidegate::protocol::recovery::{Found, knows_confirmed, lacks_retries_alone, plan as plan_emission};

/// What a start does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The first worker raises the incarnation of all key groups in one transaction, and tells the others.
    Claim,
    /// Read the rows of its own key groups, which must still be claimed so.
    Rows,
    /// Take over the ids that this run will not use.
    Fence,
    /// Take over the id that this worker sends with.
    Own,
    /// Ask the ledger whether the claims still stand, and how far the job's frontier is.
    Ask,
    /// Read the progress topic, which must have what the frontier has passed.
    Progress,
    /// Read the outbox and find what Kafka lacks.
    Outbox,
    /// Send it.
    Produce,
    Commit,
    /// Read which keys are parked and the job's frontier, and begin.
    Begin,
}

/// The order that ships. Behind `Own` every worker waits for all others.
const SHIPPED: &[Stage] =
    &[Stage::Claim, Stage::Rows, Stage::Fence, Stage::Own, Stage::Ask, Stage::Progress, Stage::Outbox];

fn order(plan: &Plan) -> &'static [Stage] {
    use Stage::{Ask, Claim, Fence, Outbox, Own, Progress, Rows};
    match plan.broken {
        Some(Broken::SkipFence) => &[Claim, Rows, Own, Ask, Progress, Outbox],
        Some(Broken::FenceBeforeClaim) => &[Fence, Own, Claim, Rows, Ask, Progress, Outbox],
        Some(Broken::ReadBeforeFence) => &[Claim, Rows, Progress, Fence, Own, Ask, Outbox],
        Some(Broken::StartTrustsFence) => &[Claim, Rows, Fence, Own, Progress, Outbox],
        _ => SHIPPED,
    }
}

/// A row as it was when it was claimed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimedRow {
    pub group: KeyGroup,
    pub incarnation: Incarnation,
    pub batch: BatchNumber,
    pub output_batch: BatchNumber,
    pub confirmed: BatchNumber,
    pub places: Places,
}

/// One worker's start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    pub stage: Stage,
    /// It has nothing to do in these stages: claim, where another worker claims for it, and fence, where it uses its only id.
    skips: Vec<Stage>,
    /// Its share of the ids is taken over.
    pub fenced: bool,
    pub rows: Vec<ClaimedRow>,
    /// The job's frontier, as it was before the progress topic was read.
    pub frontier: Vec<u8>,
    pub emitted: BTreeMap<KeyGroup, BatchNumber>,
    pub missing: Vec<(KeyGroup, BatchNumber, Vec<Event>)>,
}

impl Start {
    pub fn new(plan: &Plan, worker: usize, workers: usize) -> Start {
        let mut skips = Vec::new();
        if worker > 0 && !plan.is(Broken::ClaimApart) {
            skips.push(Stage::Claim);
        }
        if others(worker as u8, workers).count() == 0 {
            skips.push(Stage::Fence);
        }
        Start {
            stage: *order(plan).iter().find(|stage| !skips.contains(stage)).unwrap(),
            skips,
            fenced: false,
            rows: Vec::new(),
            frontier: Vec::new(),
            emitted: BTreeMap::new(),
            missing: Vec::new(),
        }
    }

    /// Goes on to the stage behind this one.
    pub fn go_on(&mut self, plan: &Plan) {
        self.stage = self.behind(plan, self.stage);
    }

    fn behind(&self, plan: &Plan, stage: Stage) -> Stage {
        let order = order(plan);
        let at = order.iter().position(|found| *found == stage).unwrap();
        *order[at + 1..].iter().find(|stage| !self.skips.contains(stage)).unwrap()
    }

    /// Whether the next stage waits until all workers have fenced.
    pub fn is_at_barrier(&self, plan: &Plan) -> bool {
        self.stage == self.behind(plan, Stage::Own)
    }

    /// Reads the rows of these key groups; `false`: one is not claimed so any more.
    pub fn read_rows(&mut self, database: &Database, claims: &[(KeyGroup, Incarnation)]) -> bool {
        let row = |(group, _): &(KeyGroup, Incarnation)| {
            let row = &database.rows[index(*group)];
            ClaimedRow {
                group: *group,
                incarnation: row.incarnation,
                batch: row.batch,
                output_batch: row.output_batch,
                confirmed: row.confirmed,
                places: row.places.clone(),
            }
        };
        self.rows = claims.iter().map(row).collect();
        database.owns(claims)
    }

    pub fn claims(&self) -> Vec<(KeyGroup, Incarnation)> {
        self.rows.iter().map(|row| (row.group, row.incarnation)).collect()
    }

    pub fn read_progress(&mut self, progress: &[BatchNumber]) {
        let row = |row: &ClaimedRow| (row.group, progress[index(row.group)]);
        self.emitted = self.rows.iter().map(row).filter(|(_, batch)| batch.0 > 0).collect();
    }

    /// A key group that the progress topic does not know as far as the frontier says that Kafka has it.
    pub fn behind_frontier(&self, plan: &Plan, database: &Database) -> Option<KeyGroup> {
        let retries_alone = |row: &ClaimedRow, emitted: BatchNumber| {
            let stored = &database.rows[index(row.group)];
            let is_retry = |batch: BatchNumber| stored.applied.iter().any(|a| a.batch == batch && a.is_retry);
            let outbox = stored.outbox.iter().map(|(batch, _)| (*batch, is_retry(*batch)));
            lacks_retries_alone(emitted, row.output_batch, outbox) && !plan.is(Broken::FrontierCountsRetries)
        };
        let passed = |row: &&ClaimedRow| {
            let mut places = row.places.iter();
            let frontier = |partition: i32| self.frontier.get(partition as usize).copied().unwrap_or(0);
            let emitted = self.emitted.get(&row.group).copied().unwrap_or_default();
            emitted < row.output_batch
                && !retries_alone(row, emitted)
                && places.all(|(at, place)| place.is_within(NextOffset(i64::from(frontier(at.partition)))))
        };
        self.rows.iter().find(passed).map(|row| row.group)
    }

    /// What the outbox has and Kafka has not; an error is a halt.
    pub fn read_outbox(&mut self, database: &Database) -> Result<(), String> {
        let outbox = |group: KeyGroup| database.rows[index(group)].outbox.iter();
        let found: Vec<Found> = self
            .rows
            .iter()
            .map(|row| Found {
                group: row.group,
                batch: row.batch,
                output_batch: row.output_batch,
                outbox: outbox(row.group).map(|(batch, _)| *batch).collect(),
                emitted: self.emitted.get(&row.group).copied().unwrap_or_default(),
            })
            .collect();
        for (row, found) in self.rows.iter().zip(&found) {
            knows_confirmed(row.group, row.confirmed, found.emitted).map_err(|gap| gap.to_string())?;
        }
        let plan = plan_emission(&found).map_err(|disagreement| disagreement.to_string())?;
        self.missing.clear();
        for (group, batches) in plan {
            let rows = outbox(group).filter(|(batch, _)| batches.contains(batch));
            self.missing.extend(rows.map(|(batch, outputs)| (group, *batch, outputs.clone())));
        }
        Ok(())
    }

    pub fn content(&self) -> Content {
        let sent = |(group, batch, outputs): &(KeyGroup, BatchNumber, Vec<Event>)| Sent {
            group: index(*group) as u8,
            batch: *batch,
            outputs: outputs.clone(),
        };
        self.missing.iter().map(sent).collect()
    }

    /// Kafka has what was missing.
    pub fn sent(&mut self) {
        for (group, batch, _) in std::mem::take(&mut self.missing) {
            self.emitted.insert(group, batch);
        }
    }

    /// With the keys that are parked now, and the marks.
    pub fn begin(&self, plan: &Plan, database: &Database) -> Running {
        let parked = |group: KeyGroup| {
            let keys = database.rows[index(group)].keys.keys().copied();
            keys.filter(|_| !plan.is(Broken::ForgetParked)).map(key_id).collect()
        };
        let forget = plan.is(Broken::ForgetPositions);
        let claimed = |row: &ClaimedRow| Claimed {
            group: row.group,
            incarnation: row.incarnation,
            batch: row.batch,
            places: if forget { Places::default() } else { row.places.clone() },
            emitted: self.emitted.get(&row.group).copied().unwrap_or_default(),
            parked: parked(row.group),
        };
        let mut running = Running::new(plan, self.rows.iter().map(claimed).collect(), self.emitted.clone());
        let groups = self.rows.iter().map(|row| row.group);
        running.on_way = groups.filter(|group| database.is_marked(*group)).collect();
        running
    }
}

/// The ids that a worker takes over and does not use.
pub fn others(worker: u8, workers: usize) -> impl Iterator<Item = usize> {
    let worker = own_id(worker);
    (0..GROUPS).filter(move |id| id % workers == worker && *id != worker)
}

/// What a reader of the progress topic finds; none: it has to wait.
pub fn progress(kafka: &Kafka, plan: &Plan) -> Option<Vec<BatchNumber>> {
    match plan.broken {
        Some(Broken::ReadUncommitted | Broken::ReadToLastStable) => Some(kafka.misread.clone()),
        _ if kafka.is_undecided() => None,
        _ => Some(kafka.progress.clone()),
    }
}
