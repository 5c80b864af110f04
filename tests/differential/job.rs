//! Job: a job file by seed, over a schema by seed.
//!
//! In:        a seed, a dialect     Out: the schema, and the job file for either way of running
//! Holds:     steps on tables that other steps write, conditions, lists, tombstones, records of several events, every rule for
//!            rejects but `halt`: what a halt leaves depends on where transactions end
//! Not here:  what is sent into it (stream)

use super::chance::Chance;
use super::lookups::select;
use super::params::{Draft, Look};
use super::schema::{Dialect, Domain, Schema, Style, Taste};
use super::stores::{last_number, store};
use tidegate::testing::Random;

/// A job and all that its input must fit.
pub struct Job {
    pub schema: Schema,
    pub taste: Taste,
    /// Records have several events.
    pub several: bool,
    /// The table whose numbers stand in `r`.
    pub refers: Option<String>,
    pub key_groups: u32,
    pub batch_events: u32,
    head: String,
    steps: String,
    tail: String,
}

/// How a job is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    OneByOne,
    /// The same, and each event in a transaction of its own.
    Alone,
    Together,
    /// On two workers.
    OnTwo,
}

impl Job {
    pub fn draw(random: &mut Random, dialect: Dialect) -> Job {
        let taste = Taste::draw(random);
        let schema = Schema::draw(random, dialect, taste);
        let several = random.percent(30);
        let (key_groups, batch_events) = if taste.style != Style::Own && random.percent(60) {
            (1, *random.one(&[&500, &500, &500, &30, &8]))
        } else {
            (*random.one(&[&2, &3, &8]), *random.one(&[&500, &500, &40]))
        };
        let head = event(random, taste, several);
        let Steps { text: steps, looks, refers, .. } = Steps::draw(random, &schema, taste);
        let tail = outputs(random, &looks, several) + &rejects(random);
        Job { schema, taste, several, refers, key_groups, batch_events, head, steps, tail }
    }

    /// The job file.
    pub fn text(&self, way: Way) -> String {
        let connections = match self.schema.dialect {
            Dialect::MariaDb if way == Way::OnTwo => "connections = 2\n",
            Dialect::MariaDb => "connections = 1\n",
            Dialect::Sqlite => "",
        };
        let key_groups = self.key_groups;
        let batch_events = if way == Way::Alone { 1 } else { self.batch_events };
        let together = matches!(way, Way::Together | Way::OnTwo);
        format!(
            "[job]\nname = \"sets\"\nkey_groups = {key_groups}\n\n[source]\nbootstrap_servers = \"127.0.0.1:9\"\n\
             topics = [\"in\"]\n\n{}\n[database]\nurl = \"${{TIDEGATE_DB_URL}}\"\n{connections}batch_events = {batch_events}\n\
             deadline_s = 60\ntogether = {together}\n\n{}\n{}",
            self.head, self.steps, self.tail
        )
    }
}

fn event(random: &mut Random, taste: Taste, several: bool) -> String {
    let mut text = "[event]\ntombstone = \"event\"\n".to_owned();
    if several {
        text += "each = \"/r/e\"\n";
    }
    let keys = [
        "key = [\"@k\"]\n",
        "key = [\"@k\"]\n",
        "key = [\"@k\"]\n",
        "key = [\"@o\"]\n",
        "key = [\"@k\", \"@o\"]\n",
        "",
    ];
    let Taste { domain, numbers, style, .. } = taste;
    let own = style == Style::Own;
    text += if own { keys[0] } else { random.one(&keys) };
    let typed = |random: &mut Random| match (domain, random.below(4)) {
        _ if own => "type = \"text\"".to_owned(),
        _ if numbers && (taste.tidy || !random.percent(5)) => "type = \"int64\"".to_owned(),
        (Domain::Digits, 0 | 1) => "type = \"int64\"".to_owned(),
        (_, 2) if random.percent(50) => "type = \"text\", white_space = \"trim\"".to_owned(),
        (Domain::Text, 0) if random.percent(40) => {
            let keys =
                domain.keys().iter().map(|key| format!("\"{key}\" = \"{}\"", key.trim().to_lowercase()));
            format!(
                "type = \"text\", white_space = \"preserve\", values = {{ {} }}",
                keys.collect::<Vec<_>>().join(", ")
            )
        }
        _ => "type = \"text\"".to_owned(),
    };
    let (k, o, a) = (typed(random), typed(random), typed(random));
    text += &format!(
        "\n[event.fields]\nk = {{ path = \"@k\", {k} }}\no = {{ path = \"@o\", {o} }}\n\
         u = {{ path = \"@u\", type = \"text\", optional = true }}\ns = {{ path = \"@s\", type = \"text\", optional = true }}\n\
         n = {{ path = \"@n\", type = \"int64\" }}\nd = {{ path = \"@d\", type = \"decimal(10,2)\", optional = true }}\n\n\
         [event.lists.ls]\neach = \"l\"\nfields = {{ a = {{ path = \"@a\", {a} }}, b = {{ path = \"@b\", type = \"int64\" }} }}\n"
    );
    text
}

/// The steps so far.
struct Steps {
    text: String,
    looks: Vec<Look>,
    taken: Vec<String>,
    refers: Option<String>,
}

impl Steps {
    fn draw(random: &mut Random, schema: &Schema, taste: Taste) -> Steps {
        let mut steps = Steps { text: String::new(), looks: Vec::new(), taken: Vec::new(), refers: None };
        let keyed = matches!(taste.style, Style::Keyed | Style::Own);
        let count = if keyed { random.between(2, 5) } else { random.between(1, 4) };
        let journal = taste.tidy && random.percent(40);
        let journal = journal.then(|| random.between(0, count - 1));
        let mut stores = 0;
        for number in 0..count {
            let is_last = number + 1 == count;
            if journal == Some(number) {
                steps.journal(taste);
            }
            if !(is_last && stores == 0) && random.percent(50) {
                steps.lookup(random, schema, taste);
            } else {
                steps.store(random, schema, taste);
                stores += 1;
            }
        }
        steps
    }

    fn lookup(&mut self, random: &mut Random, schema: &Schema, taste: Taste) {
        let looks = self.looks.clone();
        let tombstone = taste.style != Style::Own && !taste.tidy && random.percent(5);
        let taken = &mut self.taken;
        let mut draft = Draft { random, schema, taste, taken, looks: &looks, rows: false, tombstone };
        let when = draft.when();
        let (sql, columns) = select(&mut draft);
        let name = format!("l{}", looks.len());
        let reject = taste.rough && random.percent(25);
        let missing = if reject { "reject" } else { "null" };
        // What is looked up for tombstones alone nothing else may name.
        let on = if tombstone { "any" } else { "document" };
        self.text += &format!(
            "[[database.steps]]\nname = \"{name}\"\nlookup = \"{sql}\"\nmissing = \"{missing}\"\non = \"{on}\"\n"
        );
        self.close(when);
        self.looks.push(Look { name, columns });
    }

    fn store(&mut self, random: &mut Random, schema: &Schema, taste: Taste) {
        let looks = self.looks.clone();
        let tombstone = !taste.tidy && random.percent(10);
        let rows = !tombstone && random.percent(20);
        let taken = &mut self.taken;
        let mut draft = Draft { random, schema, taste, taken, looks: &looks, rows, tombstone };
        let when = draft.when();
        let (sql, numbered) = store(&mut draft);
        let always = when.is_none() && !rows && !tombstone;
        let refers = numbered
            && always
            && self.refers.is_none()
            && taste.style == Style::Wild
            && draft.random.percent(70);
        let behind = refers.then(|| last_number(&mut draft));
        let on = match tombstone {
            true if taste.style == Style::Own => "tombstone",
            true => *random.one(&[&"tombstone", &"any"]),
            false => "document",
        };
        self.text += &format!("[[database.steps]]\nstore = \"{sql}\"\non = \"{on}\"\n");
        if rows {
            self.text += "for_each = \"ls\"\n";
        }
        self.close(when);
        if let Some(behind) = behind {
            let table = sql.split_whitespace().nth(2).unwrap_or_default();
            let table = table.trim_matches('`').trim_start_matches("main.").to_lowercase();
            self.refers = Some(table);
            self.text += &format!("[[database.steps]]\nstore = \"{behind}\"\n\n");
        }
    }

    /// A row for each event, numbered by the engine.
    fn journal(&mut self, taste: Taste) {
        let key = taste.key;
        self.text +=
            &format!("[[database.steps]]\nstore = \"INSERT INTO told (id, n) VALUES ({key}, :n)\"\n\n");
    }

    fn close(&mut self, when: Option<String>) {
        if let Some(when) = when {
            self.text += &format!("when = \"{when}\"\n");
        }
        self.text.push('\n');
    }
}

/// What is sent shows what every look-up found.
fn outputs(random: &mut Random, looks: &[Look], several: bool) -> String {
    let mut text = "[[output]]\ntopic = \"out\"\n".to_owned();
    text += if several { "document = \"element\"\n" } else { "" };
    text += random.one(&["", "on = \"any\"\n"]);
    for look in looks {
        let columns =
            look.columns.iter().map(|(column, _)| format!("{column} = \":{}.{column}\"", look.name));
        let columns: Vec<String> = columns.collect();
        text += &format!(
            "\n[[output.add]]\nat = \".\"\nelement = \"{}\"\nattributes = {{ {} }}\n",
            look.name,
            columns.join(", ")
        );
    }
    if let Some(look) = random.pick(looks).filter(|_| random.clone().percent(30)) {
        let (column, _) = look.columns[0];
        let name = &look.name;
        text += &format!(
            "\n[[output]]\nname = \"some\"\ntopic = \"some\"\nwhen = \":{name}.{column} is not null\"\n"
        );
    }
    text
}

fn rejects(random: &mut Random) -> String {
    let rules = ["dead_letter", "discard", "park"];
    let mut rule = || *random.pick(&rules).expect("there are three");
    format!(
        "\n[rejects]\ndead_letter_topic = \"dead\"\nrefused = \"{}\"\nmissing_lookup = \"{}\"\nunreadable = \"dead_letter\"\n",
        rule(),
        rule()
    )
}
