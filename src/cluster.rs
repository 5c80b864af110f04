//! A job on its workers: start, control, halt, end.
