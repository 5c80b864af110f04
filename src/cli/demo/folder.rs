//! Folder: where the demo's job file, schema and database lie, for as long as it runs.
//!
//! In:        the broker's address     Out: a folder under the system's temporary one, for its owner alone
//! Fails:     with a text that names the path
//! Not here:  the database's content (demo, job)

use super::shop::insert_customers;
use crate::database::Onlooker;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const JOB: &str = include_str!("job.toml");
const SCHEMA: &str = include_str!("schema.sql");

/// The folder. It is removed when this is dropped, unless it is kept.
pub(super) struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// Makes it, and all that a user would have made: the job file, the schema, and a database that has it.
    pub(super) fn make(bootstrap_servers: &str) -> Result<Folder, String> {
        let folder = Folder { path: make_folder(&std::env::temp_dir())?, keep: false };
        let database = format!("sqlite:{}", folder.database().display());
        let job =
            JOB.replace("@BROKER@", &quoted(bootstrap_servers)).replace("@DATABASE@", &quoted(&database));
        let schema = format!("{SCHEMA}\n{}", insert_customers());
        write(&folder.job(), &job)?;
        write(&folder.schema(), &schema)?;
        let onlooker = Onlooker::open(&folder.database()).map_err(|error| error.to_string())?;
        onlooker.execute(&schema).map_err(|error| error.to_string())?;
        Ok(folder)
    }

    /// The job file.
    pub(super) fn job(&self) -> PathBuf {
        self.path.join("job.toml")
    }

    /// The statements that made the tables.
    pub(super) fn schema(&self) -> PathBuf {
        self.path.join("schema.sql")
    }

    /// The SQLite file.
    pub(super) fn database(&self) -> PathBuf {
        self.path.join("shop.db")
    }

    /// Leaves it behind, for somebody to look into.
    pub(super) fn keep(&mut self) -> &Path {
        self.keep = true;
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(folder = %self.path.display(), %error, "the demo's folder could not be removed");
        }
    }
}

/// A folder that nobody has made before.
fn make_folder(within: &Path) -> Result<PathBuf, String> {
    const TRIES: u32 = 1000;
    let mut last = String::new();
    for attempt in 0..TRIES {
        let path = within.join(format!("tidegate-demo-{}-{attempt}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) => {
                last = format!("{}: cannot be made: {error}", path.display());
                if error.kind() != std::io::ErrorKind::AlreadyExists {
                    break;
                }
            }
        }
    }
    Err(format!("{last}; TMPDIR may name another place"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: cannot be written: {error}", path.display()))
}

/// The text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
