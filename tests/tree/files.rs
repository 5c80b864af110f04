//! The files of the repository, as text.

use std::fs;
use std::path::{Path, PathBuf};

/// One file.
pub(super) struct File {
    /// From the repository's root, with `/` between its parts.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    /// Its extension; empty: none.
    pub(super) fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|e| e.to_str()).unwrap_or("")
    }
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether the repository has a file or folder of this path.
pub(super) fn exists(path: &str) -> bool {
    root().join(path).exists()
}

/// One file that must be there.
pub(super) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every text file, in order of path: what builds leave behind, and what git keeps for itself, is none of them.
pub(super) fn all() -> Vec<File> {
    let mut found = Vec::new();
    walk(root(), "", &mut found);
    assert!(found.len() > 100, "only {} files were found: the walk is wrong", found.len());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Every Rust file below these folders.
pub(super) fn rust(folders: &[&str]) -> Vec<File> {
    let below = |file: &File| folders.iter().any(|folder| file.path.starts_with(folder));
    all().into_iter().filter(|file| file.extension() == "rs" && below(file)).collect()
}

fn walk(folder: &Path, name: &str, found: &mut Vec<File>) {
    const SKIPPED: [&str; 3] = ["target", ".git", "Cargo.lock"];
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for entry in entries {
        let own = entry.file_name().and_then(|n| n.to_str()).unwrap_or("").to_owned();
        let path = if name.is_empty() { own.clone() } else { format!("{name}/{own}") };
        if SKIPPED.contains(&own.as_str()) {
            continue;
        }
        if entry.is_dir() {
            walk(&entry, &path, found);
        } else if let Ok(text) = fs::read_to_string(&entry) {
            found.push(File { path, text });
        }
    }
}
