//! What both engines must do alike: one suite, run against SQLite and against a real MariaDB.
//!
//! In:        `TIDEGATE_DB_ADMIN_URL` (`mysql://root@127.0.0.1:3306`) for a server that runs already; else
//!            `mariadbd` is started on a free port with a data folder of its own
//! Fails:     where there is neither: a suite that did not run must not pass

pub(super) mod fixture;

pub(super) mod server;

mod facts;

mod ledger;

pub(crate) mod parked;

mod parked_ledger;

mod schema;

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

/// Runs each script against both engines. The database in memory has the same list in its own tests.
macro_rules! scripts_on_both {
    ($($module:ident::$name:ident),+ $(,)?) => {
        mod parked_on_sqlite {
            $(#[test] fn $name() { super::parked::on(super::fixture::Fixture::sqlite(), super::parked::$module::$name); })+
        }
        mod parked_on_mariadb {
            $(#[test] fn $name() { super::parked::on(super::fixture::Fixture::mariadb(), super::parked::$module::$name); })+
        }
    };
}

/// The scripts about parked events, for whoever runs them.
macro_rules! parked_scripts {
    ($run:ident) => {
        $run! {
            handled::events_come_back_whole_and_in_order,
            handled::work_is_of_marked_keys_and_within_its_limits,
            handled::a_retry_handles_and_frees,
            handled::what_is_refused_again_waits_for_a_person,
            handled::a_sweep_drops_what_is_meant_and_nothing_else,
            handled::marks_stay_as_long_as_there_is_something_to_do,
            handled::many_marked_keys_are_all_handled,
            handled::a_mark_waits_for_who_handles_the_key,
            handled::a_mark_waits_for_who_parks_and_is_kept,
            undone::undo_takes_back_what_was_done_since_the_point,
            undone::parked_events_roll_back_as_one_with_the_stores,
            undone::a_point_needs_its_transaction,
            undone::an_event_is_parked_in_one_place_once,
            undone::a_reset_takes_back_what_comes_again,
            asked::filters_narrow,
            asked::pages_are_in_order_and_whole,
            asked::keys_are_told_in_one_line_each,
        }
    };
}
pub(crate) use parked_scripts;

parked_scripts!(scripts_on_both);

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
    parked_ledger::a_ledger_of_version_2_is_brought_up,
    parked_ledger::version_2_printed_statements_bring_it_up_as_well,
    parked_ledger::jobs_of_one_schema_have_their_own,
    parked_ledger::rows_that_nobody_here_has_written_are_refused,
    statements::lookups_answer_row_by_row,
    statements::two_rows_are_a_reject,
    statements::values_come_back_exactly,
    statements::a_refused_row_is_named_without_its_value,
    statements::check_finds_what_does_not_fit,
    statements::columns_are_as_they_were_declared,
    statements::fields_that_may_not_fit_are_told,
    schema::tables_are_read_with_their_columns,
    schema::what_only_reads_changes_nothing,
    facts::what_decides_who_runs_together_is_read,
    facts::a_plan_follows_links_and_the_schema,
    facts::what_a_table_of_another_kind_is,
    statements::probe_answers,
}
