//! Grown documents and grown paths: what the matcher finds is what an independent parser's tree gives, step by step.

use super::grown;
use super::naive;
use super::*;
use crate::job::List;
use proptest::prelude::*;
use roxmltree::{Document as Tree, Node};

fn field(name: String, path: Path, of_type: FieldType) -> Field {
    Field { name, source: FieldSource::Path(path), of_type, rules: FieldRules::optional() }
}

/// A job that reads every path twice: everything it finds, and the one thing that it finds.
fn job(each: &[PathStep], paths: &[Path]) -> Job {
    let mut job = Job::new();
    job.event.each = each.to_vec();
    job.event.no_match = NoMatch::Discard;
    for (index, path) in paths.iter().enumerate() {
        job.event.fields.push(field(format!("all{index}"), path.clone(), FieldType::Json));
    }
    job
}

/// The array that a field of the type json makes, and NULL where the path finds nothing.
fn all(from: Node<'_, '_>, path: &Path) -> Value {
    let found = naive::find(from, path);
    match (&found, found.len()) {
        (naive::Found::Count(_), _) => Value::Null,
        (_, 0) => Value::Null,
        _ => Value::Text(serde_json::to_string(&found.texts()).unwrap()),
    }
}

/// What a field of text is, or why not.
fn single(from: Node<'_, '_>, path: &Path) -> Result<Value, ReasonCode> {
    let found = naive::find(from, path);
    match (&found, found.len()) {
        (naive::Found::Count(count), _) => Ok(text(&count.to_string())),
        (_, 0) if path.branches.iter().any(|branch| matches!(branch.end, End::Count(_))) => Ok(text("0")),
        (_, 0) => Ok(Value::Null),
        (_, 1) => Ok(text(&found.texts()[0])),
        _ => Err(ReasonCode::Ambiguous),
    }
}

fn decode_all(job: &Job, document: &str) -> Vec<Result<Decoded, Reason>> {
    let value = Some(Bytes::copy_from_slice(document.as_bytes()));
    let record =
        Record { timestamp_ms: None, key: Some(Bytes::from_static(b"k")), headers: Vec::new(), value };
    job.decoder().decode(&record).unwrap_or_else(|reason| panic!("{reason}: {document}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn paths_find_what_a_tree_gives(
        root in grown::element(),
        each in grown::steps(0..4),
        paths in proptest::collection::vec(grown::path(0, true), 1..8),
    ) {
        let document = root.document();
        let tree = Tree::parse(&document).unwrap();
        let elements = match &each[..] {
            [] => vec![tree.root_element()],
            steps => naive::walk(tree.root(), steps),
        };
        let counts = |path: &Path| path.branches.iter().any(|branch| matches!(branch.end, End::Count(_)));
        let arrays: Vec<Path> = paths.iter().filter(|path| !counts(path)).cloned().collect();
        let events = decode_all(&job(&each, &arrays), &document);
        prop_assert_eq!(events.len(), elements.len(), "{}", document);
        for (event, element) in events.iter().zip(&elements) {
            let expected: Vec<Value> = arrays.iter().map(|path| all(*element, path)).collect();
            prop_assert_eq!(&event.as_ref().unwrap().reading.values, &expected, "{}", document);
        }
        for path in &paths {
            let mut one = job(&each, &[]);
            one.event.fields.push(field("one".into(), path.clone(), FieldType::Text));
            for (event, element) in decode_all(&one, &document).into_iter().zip(&elements) {
                let event = event.map(|event| event.reading.values[0].clone()).map_err(|reason| reason.code);
                prop_assert_eq!(event, single(*element, path), "{}", document);
            }
        }
    }

    #[test]
    fn rows_are_what_a_tree_gives(
        root in grown::element(),
        outer in grown::steps(1..3),
        inner in grown::steps(1..3),
        of_event in grown::path(0, false),
        of_outer in proptest::collection::vec(grown::path(1, false), 1..4),
        of_inner in proptest::collection::vec(grown::path(2, false), 1..4),
    ) {
        let document = root.document();
        let tree = Tree::parse(&document).unwrap();
        let list = |name: &str, parent, each: &[PathStep], paths: &[Path]| List {
            name: name.into(),
            parent,
            each: each.to_vec(),
            text: name.into(),
            fields: paths.iter().map(|path| field("f".into(), path.clone(), FieldType::Json)).collect(),
        };
        let mut job = job(&[], std::slice::from_ref(&of_event));
        job.event.lists = vec![list("outer", None, &outer, &of_outer), list("inner", Some(0), &inner, &of_inner)];
        let event = decode_all(&job, &document).remove(0).unwrap();
        prop_assert_eq!(&event.reading.values, &[all(tree.root_element(), &of_event)]);
        let rows = |lists: &[crate::model::Row]| -> Vec<(u32, u32, Vec<Value>)> {
            lists.iter().map(|row| (row.parent, row.index, row.values.clone())).collect()
        };
        let (mut outer_rows, mut inner_rows) = (Vec::new(), Vec::new());
        for (index, row) in (1..).zip(naive::walk(tree.root_element(), &outer)) {
            for (inner_index, inner_row) in (1..).zip(naive::walk(row, &inner)) {
                let values = of_inner.iter().map(|path| all(inner_row, path)).collect();
                inner_rows.push((u32::try_from(outer_rows.len()).unwrap(), inner_index, values));
            }
            outer_rows.push((0, index, of_outer.iter().map(|path| all(row, path)).collect::<Vec<_>>()));
        }
        prop_assert_eq!(rows(&event.reading.lists[0]), outer_rows, "{}", document);
        prop_assert_eq!(rows(&event.reading.lists[1]), inner_rows, "{}", document);
    }
}
