//! The job: what a job file can say of several events, rows, outputs and tombstones, in one.

use super::super::world::{DEAD, KEY_GROUPS, OUTPUT};
use tidegate::job::{self, Document, JobSpec, RejectRule};
use tidegate::model::Value;
use tidegate::testing::MemoryStep;

/// Topics that a value names.
pub const EXTRA: [&str; 2] = ["extra-a", "extra-b"];

/// Looks at everything that a template may: fields, rows inside rows, a look-up, the record.
const PAPER: &str = r#"<paper key="{{ key }}" n="{{ number }}" from="{{ _topic }}" trace="{{ _header.trace }}">{% for line in lines %}<l i="{{ line._index }}" v="{{ line.v }}">{% for part in line.parts %}<p>{{ part.w }}</p>{% endfor %}</l>{% endfor %}{{ who.name }}</paper>"#;

/// The job, with this rule for what the database refuses.
pub fn spec(refused: RejectRule) -> JobSpec {
    let mut spec = job::check("many.toml", &job_file(), &|_| None).expect("the job file is right").spec;
    spec.rejects.refused = refused;
    // The program reads the file; here there is none.
    for output in &mut spec.outputs {
        if let Document::Template(template) = &mut output.document {
            template.source = PAPER.to_owned();
        }
    }
    spec
}

/// A schema that refuses the line `bad`, where `refuses`, until it is mended.
pub fn steps(refuses: bool) -> Vec<MemoryStep> {
    let text = |text: String| Value::Text(text);
    let known = (0..100).step_by(2);
    let rows = known.map(|key| (vec![text(format!("k{key}"))], vec![text(format!("name of k{key}"))]));
    let table = |unique: &[usize]| MemoryStep::Store { unique: unique.to_vec(), refuses: None };
    let refused = refuses.then(|| (2, Value::Text("bad".to_owned())));
    vec![
        MemoryStep::Lookup(rows.collect()),
        table(&[0, 1]),
        MemoryStep::Store { unique: vec![0, 1, 3], refuses: refused },
        table(&[0, 1, 3, 4]),
        table(&[0, 1]),
    ]
}

const STEPS: &str = r#"[[database.steps]]
name = "who"
lookup = "SELECT name FROM who WHERE id = :key"
missing = "null"
when = ":x = 'yes'"

[[database.steps]]
store = "INSERT INTO journal (id, number, name, topic, part, place) VALUES (:key, :number, :who.name, :_topic, :_partition, :_offset)"

[[database.steps]]
for_each = "lines"
store = "INSERT INTO line (id, number, v, line) VALUES (:key, :number, :lines.v, :lines._index)"

[[database.steps]]
for_each = "parts"
when = ":parts.w != 0"
store = "INSERT INTO part (id, number, v, line, part, w) VALUES (:key, :number, :lines.v, :lines._index, :parts._index, :parts.w)"

[[database.steps]]
on = "tombstone"
store = "INSERT INTO stone (id, number) VALUES (:_key, :stone)""#;

fn job_file() -> String {
    let [extra_a, extra_b] = EXTRA;
    format!(
        r#"[job]
name = "many"
key_groups = {KEY_GROUPS}

[source]
bootstrap_servers = "127.0.0.1:9"
topics = ["in-a", "in-b"]
start = "earliest"

[event]
each = "/r/e"
key = ["@key"]
no_match = "discard"
tombstone = "event"

[event.fields]
key    = {{ path = "@key", type = "text" }}
number = {{ path = "@n", type = "int64" }}
x      = {{ path = "@x", type = "text", optional = true }}
to     = {{ path = "@to", type = "text", optional = true }}
stone  = {{ header = "n", type = "int64", optional = true }}

[event.lists.lines]
each = "l"
fields = {{ v = {{ path = "@v", type = "text" }} }}

[event.lists.lines.lists.parts]
each = "p"
fields = {{ w = {{ path = "@w", type = "int64" }} }}

[database]
url = "mysql://nobody@127.0.0.1:9/whole"
connections = 4
batch_events = 7
deadline_s = 1

{STEPS}

[[output]]
name = "main"
topic = "{OUTPUT}"
document = "element"

[[output.add]]
at = "b"
element = "name"
text = ":who.name"

[[output]]
name = "extra"
topic = ":to"
topics = ["{extra_a}", "{extra_b}"]
when = ":x = 'yes'"

[[output]]
on = "tombstone"
topic = "{OUTPUT}"

[[output]]
name = "paper"
topic = "{OUTPUT}"
when = ":x = 'yes'"
document = "template"
template_file = "paper"

[outage]
limit_s = 20

[rejects]
unreadable = "dead_letter"
dead_letter_topic = "{DEAD}"
"#
    )
}
