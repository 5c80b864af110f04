//! `explain`: a job's effective settings and where each comes from.

use super::args::ExplainArgs;
use super::exit;
use super::load::load;
use super::out::{error_line, line};
use crate::job::render_explain;

pub(super) fn explain(args: &ExplainArgs) -> u8 {
    match load(&args.job) {
        Ok(checked) => {
            line(render_explain(&checked).trim_end());
            exit::OK
        }
        Err(text) => {
            error_line(&text);
            exit::JOB
        }
    }
}
