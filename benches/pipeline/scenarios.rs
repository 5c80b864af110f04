//! Scenarios of throughput: a topic that is full, and how fast it is taken through.
//!
//! In:        what is typed, the world     Out: tables
//! Order:     by turns: A B C, A B C; whatever else the machine does meets all of them
//! Not here:  one run (bench), scenarios in time (latency), scenarios of trouble (trouble)

use crate::bench::{Bench, COLUMNS, MEMORY, OWN_CPU, RATE};
use crate::contender::Contender;
use crate::inputs::{Draw, Input};
use crate::job::Shape;
use crate::report::{Table, median};

impl Bench {
    /// A line for each; the first run of all is not measured: it warms up the broker and the database.
    fn turns_of(&mut self, table: &mut Table, list: Vec<(String, Contender, Input)>) {
        let list: Vec<_> = list.into_iter().filter(|(_, contender, _)| self.is_wanted(contender)).collect();
        let main = self.main_input();
        println!("to warm up:");
        self.once(&LOOPS[0], &Input { events: (main.events / 3).max(1_000), ..main });
        for turn in 0..self.turns() {
            for (name, contender, input) in &list {
                // Blocking calls take many times longer, and their rate does not depend on how many there are.
                let input = match contender {
                    Contender::Flink { form: "blocking", .. } => {
                        Input { events: (input.events / 3).max(1_000), ..*input }
                    }
                    _ => *input,
                };
                println!("turn {} of {}: {name}", turn + 1, self.turns());
                let run = self.once(contender, &input);
                table.add(name, &run.values());
            }
        }
    }

    pub(crate) fn main(&mut self) -> Vec<Table> {
        let input = self.main_input();
        let mut list: Vec<Contender> = LOOPS.into();
        list.extend([1, 2, 4].map(Contender::tidegate));
        list.push(Contender::Tidegate { shape: Shape::Main, workers: 1, processes: 2 });
        let flinks = self.flinks();
        if !flinks.is_empty() {
            list.push(Contender::Flink { form: "blocking", subtasks: 16 });
        }
        list.extend(flinks);
        let list = list.into_iter().map(|contender| (contender.name(), contender, input)).collect();
        let Input { events, bytes, keys, partitions, draw } = input;
        let draw = format!("{draw:?}").to_lowercase();
        let note = format!(
            "`scripts/bench --only main --events {events} --repeat {}`: documents of {bytes} bytes, {keys} keys ({draw}), {partitions} \
             partitions; one look-up by primary key, one upsert, the document with an element more. Flink with blocking calls: a third of \
             the events.",
            self.turns()
        );
        let mut table = Table::new("Throughput", note, &COLUMNS);
        self.turns_of(&mut table, list);
        let ratios = ratios(&table);
        vec![table, ratios]
    }

    pub(crate) fn scaling(&mut self) -> Vec<Table> {
        let main = self.main_input();
        let events = (main.events / 3).max(5_000);
        let base = Input { events, ..main };
        let inputs = [
            ("the main scenario, fewer events", base),
            ("32 partitions", Input { partitions: 32, ..base }),
            ("100 keys", Input { keys: 100, ..base }),
            ("1,000,000 keys", Input { keys: 1_000_000, ..base }),
            ("10,000 keys by Zipf", Input { draw: Draw::Zipf, ..base }),
            ("100 keys by Zipf", Input { draw: Draw::Zipf, keys: 100, ..base }),
            ("twice the events", Input { events: events * 2, ..base }),
            ("documents of 10 KB", Input { bytes: 10 * 1024, events: events / 4, ..base }),
        ];
        let mut list = Vec::new();
        for (name, input) in inputs {
            for contender in [Contender::tidegate(2), LOOPS[0].clone()] {
                list.push((format!("{name}: {}", contender.name()), contender, input));
            }
        }
        for workers in [1, 4] {
            let contender = Contender::tidegate(workers);
            list.push((format!("the main scenario, fewer events: {}", contender.name()), contender, base));
        }
        let note = format!(
            "`scripts/bench --only scaling`: {events} events (10 KB: a quarter); each line differs from the first in what it names."
        );
        let mut table = Table::new("Scaling", note, &COLUMNS);
        self.turns_of(&mut table, list);
        vec![table]
    }

    pub(crate) fn shapes(&mut self) -> Vec<Table> {
        let main = self.main_input();
        let events = (main.events / 3).max(5_000);
        let shapes = [
            ("one look-up, one upsert", Shape::Main),
            ("one look-up, one insert (append only)", Shape::Append),
            ("one look-up, order, lines and journal", Shape::Three),
            ("one look-up, one upsert, SQLite", Shape::Sqlite),
        ];
        let list = shapes.map(|(name, shape)| {
            let contender = Contender::Tidegate { shape, workers: 2, processes: 1 };
            (name.to_owned(), contender, Input { events, ..main })
        });
        let note = format!(
            "`scripts/bench --only shapes`: Tidegate, 2 workers, {events} events of 1 KB with some five lines each."
        );
        let mut table = Table::new("Shapes of jobs", note, &COLUMNS);
        self.turns_of(&mut table, list.into());
        vec![table]
    }
}

/// What a loop is good for depends on them; the fastest one counts.
pub(crate) const LOOPS: [Contender; 3] = [
    Contender::Loop { lanes: 4, batch: 500 },
    Contender::Loop { lanes: 4, batch: 2_000 },
    Contender::Loop { lanes: 8, batch: 500 },
];

/// The fastest row whose name begins so.
fn best<'a>(table: &'a Table, begins: &str) -> Option<&'a str> {
    let rows = table.rows.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with(begins));
    rows.max_by(|a, b| median(table.cell(a, RATE)).total_cmp(&median(table.cell(b, RATE))))
}

/// Of the fastest Tidegate and the fastest loop, and of each form of Flink.
fn ratios(table: &Table) -> Table {
    let note = "Turn by turn; of Tidegate and the loop the fastest configuration, by median.".to_owned();
    let mut ratios =
        Table::new("Throughput, ratios", note, &["events/s", "own CPU per event", "peak memory"]);
    let Some(tidegate) = best(table, "tidegate") else { return ratios };
    let flinks = table.rows.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("flink"));
    for other in best(table, "loop").into_iter().chain(flinks) {
        for turn in 0..table.cell(tidegate, RATE).len() {
            let ratio = |column| table.cell(tidegate, column)[turn] / table.cell(other, column)[turn];
            ratios.add(&format!("{tidegate} / {other}"), &[ratio(RATE), ratio(OWN_CPU), ratio(MEMORY)]);
        }
    }
    ratios
}
