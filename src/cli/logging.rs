//! Logging: to standard error, as text or JSON. Normal operation is silent after the start; WARN says that the job
//! holds, ERROR that somebody must be woken.

use super::args::LogFormat;
use tracing::Level;

/// Starts logging for the whole process.
pub(super) fn start(format: LogFormat) {
    let builder = tracing_subscriber::fmt()
        .with_writer(super::out::error_stream)
        .with_max_level(Level::INFO)
        .with_target(false);
    // A second start in one process keeps the first one's choice.
    let _already = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
