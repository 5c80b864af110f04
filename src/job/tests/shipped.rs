//! The jobs that are shipped: each is right without a server, a file or a variable, and has what it needs beside it.

use super::super::{Checked, DatabaseKind, check};
use super::schema;
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

fn shipped(folder: &Path) -> Checked {
    let text = std::fs::read_to_string(folder.join("job.toml")).unwrap();
    let label = folder.file_name().unwrap().to_string_lossy();
    assert_eq!(schema::judge().refuses(&schema::value_of(&text)), None, "{label}");
    check(&label, &text, &|_| None).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_shipped_job_passes_and_has_a_schema_and_a_sample() {
    let folders = folders();
    assert_eq!(folders.len(), 3, "{folders:?}");
    let mut names = Vec::new();
    for folder in folders {
        let checked = shipped(&folder);
        names.push(checked.spec.name.clone());
        let root = checked.spec.event.each[0].name.clone();
        let sample = std::fs::read_to_string(folder.join("sample.xml")).unwrap();
        assert!(sample.contains(&format!("<{} ", root.local)), "the sample's root is the event");
        assert!(sample.contains(&format!("xmlns=\"{}\"", root.namespace.unwrap())));
        let schema = std::fs::read_to_string(folder.join("schema.sql")).unwrap();
        assert!(schema.contains("CREATE TABLE IF NOT EXISTS"), "the schema can be loaded again");
    }
    names.sort();
    assert_eq!(
        names,
        ["orders", "payments", "statements"],
        "names differ, so that the jobs can share a database"
    );
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
