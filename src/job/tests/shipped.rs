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

/// The job files of a folder, in order of their names.
fn job_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    files.sort();
    files
}

fn shipped(file: &Path, environment: &dyn Fn(&str) -> Option<String>) -> Checked {
    let text = std::fs::read_to_string(file).unwrap();
    let label = file.display().to_string();
    assert_eq!(schema::judge().refuses(&schema::value_of(&text)), None, "{label}");
    assert!(
        text.starts_with("#:schema ../../docs/job-file.schema.json\n"),
        "{label}: editors find the schema"
    );
    check(&label, &text, environment).unwrap_or_else(|errors| panic!("{errors}"))
}

/// `job.toml` has `sample*.xml` beside it, and `older.toml` has `older.xml`.
fn samples(file: &Path) -> Vec<String> {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let begins = if stem == "job" { "sample" } else { stem };
    let entries = std::fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_sample = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(begins) && name.ends_with(".xml")
    };
    entries.filter(is_sample).map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_shipped_job_passes_and_has_a_schema_and_a_sample() {
    let folders = folders();
    assert_eq!(folders.len(), 9, "{folders:?}");
    let mut names = Vec::new();
    for folder in folders {
        let files = job_files(&folder);
        assert!(files.iter().any(|file| file.ends_with("job.toml")), "{}", folder.display());
        for file in files {
            let checked = shipped(&file, &|_| None);
            names.push(checked.spec.name.clone());
            let samples = samples(&file);
            assert!(!samples.is_empty(), "{} has no sample", file.display());
            for step in checked.spec.event.each {
                let uri = step.name.namespace.map(|uri| format!("=\"{uri}\""));
                let is_in = |sample: &String| {
                    sample.contains(&step.name.local) && uri.as_ref().is_none_or(|uri| sample.contains(uri))
                };
                assert!(samples.iter().all(is_in), "{}: {}", file.display(), step.name.local);
            }
        }
        for schema in ["schema.sql", "schema-sqlite.sql"] {
            let Ok(schema) = std::fs::read_to_string(folder.join(schema)) else { continue };
            let tables = schema.matches("CREATE TABLE").count();
            assert_eq!(
                schema.matches("CREATE TABLE IF NOT EXISTS").count(),
                tables,
                "it can be loaded again"
            );
            assert!(tables > 0);
        }
        assert!(folder.join("schema.sql").exists());
    }
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "names differ, so that the jobs can share a database: {names:?}");
}

#[test]
fn jobs_with_a_schema_for_sqlite_are_right_on_sqlite() {
    let environment = |name: &str| (name == "TIDEGATE_DB_URL").then(|| "sqlite:shop.db".to_owned());
    let with_schema = folders().into_iter().filter(|folder| folder.join("schema-sqlite.sql").exists());
    let files: Vec<PathBuf> = with_schema.flat_map(|folder| job_files(&folder)).collect();
    assert_eq!(files.len(), 9, "{files:?}");
    for file in files {
        let spec = shipped(&file, &environment).spec;
        assert!(matches!(spec.database.kind, DatabaseKind::Sqlite { .. }), "{}", file.display());
    }
}

#[test]
fn every_shipped_job_is_named_in_the_readme() {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/README.md")).unwrap();
    for file in folders().iter().flat_map(|folder| job_files(folder)) {
        let folder = file.parent().unwrap().file_name().unwrap().to_string_lossy();
        let link = format!("({folder}/{})", file.file_name().unwrap().to_string_lossy());
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
