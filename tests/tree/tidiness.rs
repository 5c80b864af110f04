//! What each file owes its reader.

use super::assert_none;
use super::files::{all, rust};

/// Longest file, in lines.
const LINES_MAX: usize = 500;

/// Files that may be longer, each with its reason.
const LONGER: [(&str, &str); 0] = [];

#[test]
fn every_file_begins_with_what_it_is() {
    let headless = rust(&["src/", "tests/"]).into_iter().filter(|file| !file.text.starts_with("//! "));
    let offences: Vec<String> = headless.map(|file| file.path).collect();
    assert_none(&offences, "a file begins with `//!` and what it is");
}

#[test]
fn no_file_is_long() {
    let files = all();
    let counted = files.iter().filter(|file| matches!(file.extension(), "rs" | "sh" | "md" | ""));
    let long = counted.filter(|file| file.text.lines().count() > LINES_MAX);
    let allowed = |path: &str| LONGER.iter().any(|(named, _)| *named == path);
    let long: Vec<String> = long.map(|file| file.path.clone()).collect();
    let offences: Vec<String> = long.iter().filter(|path| !allowed(path)).cloned().collect();
    assert_none(&offences, "a file has at most 500 lines");
    for (path, _) in LONGER {
        assert!(long.iter().any(|found| found == path), "{path} is not long any more: take it off the list");
    }
}

#[test]
fn nothing_is_left_for_later() {
    // Taken apart, so that this file is not its own offence.
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("#[ig", "nore"),
        concat!("dbg", "!("),
    ];
    let mut offences = Vec::new();
    for file in all().into_iter().filter(|file| !matches!(file.extension(), "xml" | "snap")) {
        for (index, line) in file.text.lines().enumerate() {
            let met = words.iter().filter(|word| line.contains(**word));
            offences.extend(met.map(|word| format!("{}:{} {word}", file.path, index + 1)));
        }
    }
    assert_none(&offences, "what is not done is refused by the program or named in the README");
}

#[test]
fn no_path_of_one_machine_stands_in_the_tree() {
    let here = [Some(env!("CARGO_MANIFEST_DIR").to_owned()), std::env::var("HOME").ok()];
    // One step, such as a root user's home, may as well be a path of XML.
    let is_deep = |place: &String| place.matches('/').count() > 1;
    let mut places: Vec<String> = here.into_iter().flatten().filter(is_deep).collect();
    places.extend(["home", "Users", "opt", "mnt"].map(|folder| format!("/{folder}/")));
    let mut offences = Vec::new();
    for file in all().into_iter().filter(|file| file.extension() != "xml") {
        let met = places.iter().filter(|place| {
            // Inside of a longer path it is another folder.
            let stands = |(at, _): (usize, &str)| {
                let before = file.text.get(..at).unwrap_or("");
                !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '/'))
            };
            file.text.match_indices(place.as_str()).any(stands)
        });
        offences.extend(met.map(|place| format!("{} holds {place}", file.path)));
    }
    assert_none(&offences, "paths of one machine mean nothing on another");
}

#[test]
fn modules_stand_beside_their_folders() {
    let offences: Vec<String> =
        rust(&["src/"]).into_iter().map(|file| file.path).filter(|path| path.ends_with("/mod.rs")).collect();
    assert_none(&offences, "a module is foo.rs beside foo/");
}
