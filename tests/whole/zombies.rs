//! zombies
