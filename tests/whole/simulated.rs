//! Simulated lives: whole jobs on one thread and on a clock that is moved, so that a seed is a schedule, replayed exactly.
//!
//! In:        a seed     Out: what is wrong, and the history
//! Order:     of all that goes on, drawn from the seed: which worker steps next, how long each call takes, what fails
//! Not here:  real threads (life): what two threads do to each other in the same nanosecond is found there

mod hold;
mod idle;
mod life;
mod marks;
mod process;
mod seeds;
mod universe;
