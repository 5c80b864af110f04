//! Differential: jobs and streams by seed, each run one by one and run together, and everything that is left must be equal.
//!
//! In:        a server to make schemas on; how many seeds, or `TIDEGATE_SET=n` for one, or `TIDEGATE_SETS=n` for the first n
//! Out:       nothing, or the job file, the input and the first difference of each seed that has one; in any case what was run
//! Order:     several seeds beside each other: a run mostly waits
//! Fails:     also when a run does not come to its end
//! Not here:  several workers and connections: which of them is first is chance even one by one, and with it all that depends on
//!            the order of events of different keys (a number that the engine gives, a row that two keys share)

mod chance;
mod compare;
mod job;
mod lookups;
mod params;
mod play;
mod schema;
mod seeds;
mod stores;
mod stream;
mod wrong;

pub use play::{Place, Server};
pub use schema::Dialect;
pub use seeds::run;
pub use wrong::each_is_found;
