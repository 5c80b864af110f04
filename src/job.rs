//! The job file: from text to a checked [`JobSpec`].
//!
//! In:        the text of a job file, its name, and the environment's variables
//! Out:       a [`JobSpec`] in which nothing needs checking again, or every error at once
//! Not here:  no file is opened, no server is asked: `check` does that with what stands here

mod spec;
pub use spec::{
    Addition, DatabaseKind, DatabaseSpec, EventSpec, Field, FieldType, JobSpec, LimitsSpec, LookupStep, Meta,
    Missing, Name, OutageSpec, OutputSpec, Path, RejectRule, RejectsSpec, Secret, SourceSpec, Start,
    Statement, Step, StoreStep, ValueRef,
};
