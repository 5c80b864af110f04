//! Templates: the files that outputs are written by, read and held against the job.
//!
//! In:        a checked job and the folder of its file     Out: the job with its templates' texts, and the columns that they take
//! Fails:     a file that cannot be read, is no template, or takes a name that the job does not have; all of them at once
//! Not here:  writing documents (operator)

use crate::job::{Document, JobSpec, Step, nearest};
use crate::xml::Template;
use std::path::Path;

/// What stands for something of the record.
const OF_RECORD: [&str; 7] = ["_topic", "_partition", "_offset", "_timestamp", "_key", "_header", "_now"];

/// Fills the job's templates in; or everything that is wrong with them, one entry a line.
pub(super) fn fill(spec: &mut JobSpec, folder: &Path) -> Result<(), String> {
    let mut wrong = Vec::new();
    let mut taken = Vec::new();
    for output in &mut spec.outputs {
        let Document::Template(template) = &mut output.document else { continue };
        let path = folder.join(&template.file);
        match std::fs::read_to_string(&path) {
            Ok(source) => template.source = source,
            Err(error) => {
                wrong.push(format!("output.template_file: {} cannot be read: {error}", path.display()));
                continue;
            }
        }
        match Template::compile(&template.file, &template.source) {
            Ok(compiled) => {
                taken.extend(compiled.names().into_iter().map(|name| (template.file.clone(), name)))
            }
            Err(error) => wrong.push(format!("output.template_file: {error}")),
        }
    }
    for (file, name) in taken {
        if let Err(why) = take(spec, &name) {
            wrong.push(format!("output.template_file: {file}: {why}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A name that a template takes. Of a look-up, its column is asked for from now on.
fn take(spec: &mut JobSpec, name: &str) -> Result<(), String> {
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, rest.split('.').next()),
        None => (name, None),
    };
    let is_field = spec.event.fields.iter().any(|field| field.name == first);
    let is_list = spec.event.lists.iter().any(|list| list.parent.is_none() && list.name == first);
    let near = near(spec, first);
    // A look-up may have the name of a field: then it is the look-up's, since only it has names inside.
    let lookup = spec.database.steps.iter_mut().find_map(|step| match step {
        Step::Lookup(lookup) if lookup.name.as_deref() == Some(first) => Some(lookup),
        Step::Lookup(_) | Step::Store(_) => None,
    });
    match (lookup, rest) {
        (Some(lookup), Some(column)) => {
            if !lookup.columns.iter().any(|known| known == column) {
                lookup.columns.push(column.to_owned());
            }
            Ok(())
        }
        (Some(_), None) => Err(format!("`{first}` is a look-up: write `{first}.COLUMN`")),
        (None, _) if is_field || is_list || OF_RECORD.contains(&first) => Ok(()),
        (None, _) => {
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Err(format!("`{first}` is no field, list or look-up of the job, and no name like _topic{near}"))
        }
    }
}

/// The name of the job that was probably meant.
fn near(spec: &JobSpec, name: &str) -> Option<String> {
    let fields = spec.event.fields.iter().map(|field| field.name.as_str());
    let lists = spec.event.lists.iter().filter(|list| list.parent.is_none()).map(|list| list.name.as_str());
    let lookups = spec.database.steps.iter().filter_map(|step| match step {
        Step::Lookup(lookup) => lookup.name.as_deref(),
        Step::Store(_) => None,
    });
    nearest(name, fields.chain(lists).chain(lookups).chain(OF_RECORD)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::check;

    fn spec() -> JobSpec {
        let text = r#"
[job]
name = "orders"
[source]
bootstrap_servers = "127.0.0.1:1"
topics = ["orders"]
[event]
key = ["@id"]
[event.fields]
id = { path = "@id", type = "text" }
[event.lists.line]
each = "line"
fields = { sku = { path = "@sku", type = "text" } }
[database]
url = "sqlite:orders.db"
[[database.steps]]
name = "customer"
lookup = "SELECT name, tier FROM customer WHERE id = :id"
[[database.steps]]
store = "INSERT INTO orders (id) VALUES (:id)"
[output]
topic = "out"
document = "template"
template_file = "out.xml.j2"
[rejects]
dead_letter_topic = "rejected"
"#;
        check("job.toml", text, &|_| None).map_err(|errors| errors.to_string()).unwrap().spec
    }

    fn filled(source: &str) -> Result<JobSpec, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("out.xml.j2"), source).unwrap();
        let mut spec = spec();
        fill(&mut spec, folder.path())?;
        Ok(spec)
    }

    #[test]
    fn a_template_is_read_and_its_columns_are_asked_for() {
        let source = "<o id=\"{{ id }}\" t=\"{{ _topic }}\">{{ customer.tier }}\
                      {% for l in line %}<l n=\"{{ l._index }}\">{{ l.sku }}</l>{% endfor %}</o>";
        let spec = filled(source).unwrap();
        let Document::Template(template) = &spec.outputs[0].document else { panic!("a template") };
        assert_eq!(template.source, source);
        let Step::Lookup(lookup) = &spec.database.steps[0] else { panic!("a look-up") };
        assert_eq!(lookup.columns, ["tier"]);
    }

    #[test]
    fn a_name_that_is_a_fields_and_a_lookups_is_the_lookups() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("out.xml.j2"), "<o>{{ customer.name }}</o>").unwrap();
        let mut spec = spec();
        spec.event.fields[0].name = "customer".to_owned();
        fill(&mut spec, folder.path()).unwrap();
        let Step::Lookup(lookup) = &spec.database.steps[0] else { panic!("a look-up") };
        assert_eq!(lookup.columns, ["name"]);
    }

    #[test]
    fn what_is_wrong_with_a_template_is_said_with_its_file() {
        let unknown = filled("<o>{{ nothing }}{{ customers.name }}</o>").unwrap_err();
        assert!(unknown.contains("out.xml.j2: `nothing`") && unknown.contains("`customers`"), "{unknown}");
        assert!(unknown.contains("did you mean `customer`?"), "{unknown}");
        let whole = filled("<o>{{ customer }}</o>").unwrap_err();
        assert!(whole.contains("write `customer.COLUMN`"), "{whole}");
        assert!(filled("<o>{{ id }</o>").unwrap_err().contains("out.xml.j2"));
        let missing = fill(&mut spec(), Path::new("/nowhere")).unwrap_err();
        assert!(missing.contains("cannot be read"), "{missing}");
    }
}
