//! What both engines must do alike: one suite, run against SQLite and against a real MariaDB.
//!
//! In:        `TIDEGATE_DB_ADMIN_URL` (`mysql://root@127.0.0.1:3306`) for a server that runs already; else
//!            `mariadbd` is started on a free port with a data folder of its own
//! Fails:     where there is neither: a suite that did not run must not pass

pub(super) mod fixture;

pub(super) mod server;

mod ledger;

mod statements;

mod world;

/// Runs each function of the suite against both engines.
macro_rules! on_both {
    ($($module:ident::$name:ident),+ $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $name() { super::fixture::Fixture::sqlite().run(super::$module::$name); })+
        }
        mod on_mariadb {
            $(#[test] fn $name() { super::fixture::Fixture::mariadb().run(super::$module::$name); })+
        }
    };
}

on_both! {
    ledger::is_created_once_by_many,
    ledger::of_another_version_is_refused,
    ledger::is_missing,
    ledger::remembers_the_job,
    ledger::claims_raise_the_incarnation,
    ledger::advances_and_forgets_what_is_confirmed,
    ledger::takes_many_groups_at_once,
    ledger::refuses_who_does_not_own_the_group,
    ledger::rolls_back_as_one_with_the_stores,
    ledger::frontier_never_moves_back,
    ledger::settle_waits_for_the_open_transaction,
    ledger::a_dropped_session_leaves_nothing,
    world::topics_are_remembered,
    world::a_reset_moves_everything_at_once,
    world::a_reset_needs_its_claims,
    world::a_frontier_of_before_a_reset_is_refused,
    world::a_ledger_of_version_1_is_brought_up,
    world::the_printed_statements_bring_it_up_as_well,
    world::a_newer_ledger_is_refused,
    statements::lookups_answer_row_by_row,
    statements::two_rows_are_a_reject,
    statements::values_come_back_exactly,
    statements::a_refused_row_is_named_without_its_value,
    statements::check_finds_what_does_not_fit,
    statements::probe_answers,
}
