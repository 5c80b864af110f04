//! The job: its file for what every job has, and the rest of the language put into the checked job.

use super::super::world::{DEAD, KEY_GROUPS, OUTPUT};
use tidegate::job::{
    self, Comparison, Condition, Document, Field, FieldRules, FieldSource, FieldType, JobSpec, List, Meta,
    Name, NoMatch, On, Operand, OutputSpec, PathStep, RejectRule, Statement, Step, StoreStep, Template,
    TombstoneRule, TopicChoice, ValueRef,
};
use tidegate::model::Value;
use tidegate::testing::MemoryStep;

/// Topics that a value names.
pub const EXTRA: [&str; 2] = ["extra-a", "extra-b"];

const KEY: ValueRef = ValueRef::Field(0);
const NUMBER: ValueRef = ValueRef::Field(1);
const X: ValueRef = ValueRef::Field(2);
const TO: ValueRef = ValueRef::Field(3);
const STONE: ValueRef = ValueRef::Field(4);

fn name(local: &str) -> Name {
    Name { namespace: None, local: local.to_owned() }
}

fn step(local: &str) -> PathStep {
    PathStep { name: name(local), predicates: Vec::new() }
}

/// The job, with this rule for what the database refuses.
pub fn spec(refused: RejectRule) -> JobSpec {
    let mut spec = job::check("many.toml", &job_file(), &|_| None).expect("the job file is right").spec;
    let number = attribute(&spec, "w");
    let text = attribute(&spec, "v");
    spec.event.fields.truncate(4);
    spec.event.each = vec![step("r"), step("e")];
    spec.event.no_match = NoMatch::Discard;
    spec.event.tombstone = TombstoneRule::Event;
    spec.event.fields.push(Field {
        name: "stone".to_owned(),
        source: FieldSource::Header("n".to_owned()),
        of_type: FieldType::Int64,
        rules: FieldRules::optional(),
    });
    spec.event.lists = vec![list("lines", None, "l", text), list("parts", Some(0), "p", number)];
    spec.rejects.refused = refused;
    spec.outputs = outputs(&spec.outputs);
    spec.output_topics = [OUTPUT, EXTRA[0], EXTRA[1]].map(str::to_owned).to_vec();
    let yes = is_yes();
    if let Some(Step::Lookup(lookup)) = spec.database.steps.first_mut() {
        lookup.when = Some(yes);
    }
    spec.database.steps.extend([lines(), parts(), stones()]);
    spec
}

/// A field of the file, by its name.
fn attribute(spec: &JobSpec, name: &str) -> Field {
    spec.event.fields.iter().find(|field| field.name == name).cloned().expect("the field is there")
}

fn list(called: &str, parent: Option<usize>, each: &str, field: Field) -> List {
    List {
        name: called.to_owned(),
        parent,
        each: vec![step(each)],
        text: each.to_owned(),
        fields: vec![field],
    }
}

fn is_yes() -> Condition {
    Condition::Compare {
        left: Operand::Value(X),
        by: Comparison::Equal,
        right: Operand::Text("yes".to_owned()),
    }
}

fn store(parameters: Vec<ValueRef>) -> StoreStep {
    let statement = Statement { sql: "INSERT".to_owned(), parameters };
    StoreStep { name: None, statement, for_each: None, on: On::Document, when: None }
}

fn lines() -> Step {
    let row = ValueRef::Row { list: 0, field: 0 };
    let parameters = vec![KEY, NUMBER, row, ValueRef::RowIndex { list: 0 }];
    Step::Store(StoreStep { for_each: Some(0), ..store(parameters) })
}

/// With a value of the row that each is in; of those with a number alone.
fn parts() -> Step {
    let (outer, inner) = (ValueRef::Row { list: 0, field: 0 }, ValueRef::Row { list: 1, field: 0 });
    let indexes = [ValueRef::RowIndex { list: 0 }, ValueRef::RowIndex { list: 1 }];
    let [outer_index, inner_index] = indexes;
    let when = Condition::Compare {
        left: Operand::Value(inner.clone()),
        by: Comparison::NotEqual,
        right: Operand::Number("0".to_owned()),
    };
    let parameters = vec![KEY, NUMBER, outer, outer_index, inner_index, inner];
    Step::Store(StoreStep { for_each: Some(1), when: Some(when), ..store(parameters) })
}

fn stones() -> Step {
    Step::Store(StoreStep { on: On::Tombstone, ..store(vec![ValueRef::Meta(Meta::Key), STONE]) })
}

/// Looks at everything that a template may: fields, rows inside rows, a look-up, the record.
const PAPER: &str = r#"<paper key="{{ key }}" n="{{ number }}" from="{{ _topic }}" trace="{{ _header.trace }}">{% for line in lines %}<l i="{{ line._index }}" v="{{ line.v }}">{% for part in line.parts %}<p>{{ part.w }}</p>{% endfor %}</l>{% endfor %}{{ who.name }}</paper>"#;

fn outputs(of_file: &[OutputSpec]) -> Vec<OutputSpec> {
    let main = of_file.first().cloned().expect("the file has an output");
    let nothing = OutputSpec { edits: Vec::new(), ..main.clone() };
    let main = OutputSpec { name: Some("main".to_owned()), document: Document::Element, ..main };
    let extra = OutputSpec {
        name: Some("extra".to_owned()),
        topic: TopicChoice::By { value: TO, allowed: vec![1, 2] },
        when: Some(is_yes()),
        document: Document::Input,
        ..nothing.clone()
    };
    let paper = OutputSpec {
        name: Some("paper".to_owned()),
        when: Some(is_yes()),
        document: Document::Template(Template { file: "paper".to_owned(), source: PAPER.to_owned() }),
        ..nothing.clone()
    };
    let gone = OutputSpec { on: On::Tombstone, document: Document::Nothing, ..nothing };
    vec![main, extra, gone, paper]
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

fn job_file() -> String {
    format!(
        r#"[job]
name = "many"
key_groups = {KEY_GROUPS}

[source]
bootstrap_servers = "127.0.0.1:9"
topics = ["in-a", "in-b"]
start = "earliest"

[event]
key = ["@key"]

[event.fields]
key    = {{ path = "@key", type = "text" }}
number = {{ path = "@n", type = "int64" }}
x      = {{ path = "@x", type = "text", optional = true }}
to     = {{ path = "@to", type = "text", optional = true }}
v      = {{ path = "@v", type = "text" }}
w      = {{ path = "@w", type = "int64" }}

[database]
url = "mysql://nobody@127.0.0.1:9/whole"
connections = 4
batch_events = 7
deadline_s = 1

[[database.steps]]
name = "who"
lookup = "SELECT name FROM who WHERE id = :key"
missing = "null"

[[database.steps]]
store = "INSERT INTO journal (id, number, name, topic, part, place) VALUES (:key, :number, :who.name, :_topic, :_partition, :_offset)"

[output]
topic = "{OUTPUT}"

[[output.add]]
at = "b"
element = "name"
text = ":who.name"

[outage]
limit_s = 20

[rejects]
unreadable = "dead_letter"
dead_letter_topic = "{DEAD}"
"#
    )
}
