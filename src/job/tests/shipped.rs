//! The jobs that are shipped: each is right without a server, a file or a variable, and has what it needs beside it.

use super::super::{Checked, DatabaseKind, check};
use super::schema;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folders() -> Vec<PathBuf> {
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(jobs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// The job files of a folder; `job.toml` is the one that the folder is named for.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    assert!(files.contains(&folder.join("job.toml")), "{folder:?}");
    files
}

fn shipped(file: &Path) -> Checked {
    let text = std::fs::read_to_string(file).unwrap();
    let label = file.display().to_string();
    assert_eq!(schema::judge().refuses(&schema::value_of(&text)), None, "{label}");
    assert!(
        text.starts_with("#:schema ../../docs/job-file.schema.json\n"),
        "{label}: editors find the schema"
    );
    check(&label, &text, &|_| None).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_shipped_job_passes_and_has_a_schema_and_a_sample() {
    let mut names = BTreeSet::new();
    for folder in folders() {
        for file in files(&folder) {
            let checked = shipped(&file);
            let name = checked.spec.name;
            assert!(
                names.insert(name.clone()),
                "{name}: names differ, so that the jobs can share a database"
            );
        }
        assert!(std::fs::read_to_string(folder.join("sample.xml")).unwrap().contains('<'), "{folder:?}");
        let schema = std::fs::read_to_string(folder.join("schema.sql")).unwrap();
        assert!(schema.contains("CREATE TABLE IF NOT EXISTS"), "the schema can be loaded again");
    }
    assert!(names.len() >= 9, "{names:?}");
}

#[test]
fn a_sample_is_the_event_of_its_job() {
    for folder in folders() {
        let root = shipped(&folder.join("job.toml")).spec.event.each.first().map(|step| step.name.clone());
        let sample = std::fs::read_to_string(folder.join("sample.xml")).unwrap();
        let Some(root) = root else { continue };
        assert!(sample.contains(&root.local), "{folder:?}: the sample's root is the event's");
        assert!(root.namespace.is_none_or(|uri| sample.contains(&format!("\"{uri}\""))), "{folder:?}");
    }
}

#[test]
fn every_shipped_job_is_named_in_the_readme() {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/README.md")).unwrap();
    for folder in folders() {
        let link = format!("({}/job.toml)", folder.file_name().unwrap().to_string_lossy());
        assert_eq!(readme.matches(&link).count(), 1, "{link}");
    }
}

#[test]
fn variables_name_other_servers() {
    let text = include_str!("../../../jobs/orders/job.toml");
    let environment = |name: &str| match name {
        "TIDEGATE_KAFKA" => Some("kafka:1".to_owned()),
        "TIDEGATE_DB_URL" => Some("mysql://other:p%40w@db:2/sales".to_owned()),
        _ => None,
    };
    let spec = check("orders", text, &environment).unwrap().spec;
    assert_eq!(spec.source.bootstrap_servers, "kafka:1");
    let DatabaseKind::MySql { host, port, user, password, database, .. } = spec.database.kind else {
        panic!()
    };
    assert_eq!((host.as_str(), port, user.as_str(), database.as_str()), ("db", 2, "other", "sales"));
    assert_eq!(password.unwrap().0, "p@w");
}
