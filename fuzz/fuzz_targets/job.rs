//! Fuzzes `targets::job_file`.

#![no_main]

#[allow(dead_code)]
#[path = "../../tests/corpus/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::job_file(bytes));
