//! Look-ups: one SELECT for many rows of parameters, in few round trips.
//!
//! In:        a step, rows of parameters
//! Out:       per row of parameters the referenced columns of the row found, or `None`
//! Order:     equal rows of parameters are asked once. Distinct ones go in statements of fixed sizes, so that few are
//!            ever prepared: `SELECT ? AS tidegate_row, q.* FROM (<look-up>) q UNION ALL ...`
//! Holds:     per step whether the server takes that form and gives the same types by it; else one by one
//! Fails:     misconfigured: a referenced column that is not there; reject: more than one row for one row of parameters
//! Not here:  what a missing row means (the caller)

use super::error::classify;
use super::session::MySqlSession;
use super::value::{Kind, bind, read};
use crate::database::error::more_than_one_row;
use crate::database::steps::column_places;
use crate::database::{DatabaseError, Row};
use crate::model::Value;
use mysql_async::prelude::Queryable;
use mysql_async::{Column, Conn, Error, Params, Value as Wire};
use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

/// How many rows of parameters one statement asks for.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// Most parameters that a statement may have.
const PARAMETERS_MAX: usize = 65_535;

/// How a look-up is asked on this connection.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    label: String,
    /// For one row of parameters.
    single: Arc<str>,
    /// For many, by size; empty: the server does not take that form.
    many: Vec<(usize, Arc<str>)>,
    /// Where the referenced columns stand in the look-up's own result.
    places: Vec<usize>,
}

#[cfg(test)]
impl Plan {
    /// How many statements for many rows there are.
    pub(super) fn forms(&self) -> usize {
        self.many.len()
    }
}

/// One row of parameters, once.
struct Asked<'a> {
    parameters: &'a [Value],
    /// The first that asked for it.
    first: usize,
    answer: Option<Row>,
}

/// Runs look-up `step` for all rows.
pub(super) async fn run(
    session: &mut MySqlSession,
    step: usize,
    rows: &[Row],
) -> Result<Vec<Option<Row>>, DatabaseError> {
    let plan = plan(session, step).await?;
    let (mut asked, of_row) = distinct(rows);
    let mut rest = asked.as_mut_slice();
    while !rest.is_empty() {
        let (size, take) = next_size(&plan, rest.len());
        let (part, others) = rest.split_at_mut_checked(take).unwrap_or_default();
        ask(session.conn()?, &plan, size, part).await?;
        rest = others;
    }
    Ok(of_row.into_iter().map(|index| asked.get(index).and_then(|a| a.answer.clone())).collect())
}

/// The rows that differ, and for each row which of them it is.
fn distinct(rows: &[Row]) -> (Vec<Asked<'_>>, Vec<usize>) {
    let mut asked: Vec<Asked<'_>> = Vec::with_capacity(rows.len());
    let mut seen = HashMap::with_capacity(rows.len());
    let of_row = rows.iter().enumerate().map(|(first, parameters)| {
        let fresh = asked.len();
        // A row that cannot be encoded is asked for itself.
        let index = match postcard::to_allocvec(parameters) {
            Ok(key) => *seen.entry(key).or_insert(fresh),
            Err(_) => fresh,
        };
        if index == fresh {
            asked.push(Asked { parameters, first, answer: None });
        }
        index
    });
    let of_row = of_row.collect();
    (asked, of_row)
}

/// The size of the next statement and how many rows it answers. A statement may be filled up with copies of its
/// last row, where that wastes less than half of it.
fn next_size(plan: &Plan, left: usize) -> (usize, usize) {
    let mut best = (1, 1);
    for (size, _) in plan.many.iter().rev() {
        if *size <= left || left * 2 > *size {
            best = (*size, left.min(*size));
        }
    }
    best
}

async fn ask(conn: &mut Conn, plan: &Plan, size: usize, part: &mut [Asked<'_>]) -> Result<(), DatabaseError> {
    let wrapped = plan.many.iter().find(|(of, _)| *of == size && size > 1);
    let (sql, parameters) = match wrapped {
        Some((_, sql)) => (sql, numbered(part, size)),
        None => (&plan.single, part.iter().flat_map(|asked| asked.parameters).map(bind).collect()),
    };
    let first = part.first().map_or(0, |asked| asked.first);
    let fail = |error| classify(&plan.label, error);
    let mut result = conn.exec_iter(Arc::clone(sql), Params::Positional(parameters)).await.map_err(fail)?;
    let kinds: Vec<Kind> = result.columns_ref().iter().map(Kind::of).collect();
    let mut twice = None;
    // Read to the end, whatever is in it: what is left unread would be the next statement's answer.
    while let Some(row) = result.next().await.map_err(fail)? {
        let mut values = row.unwrap();
        let index = if wrapped.is_some() { row_number(values.remove(0)) } else { Some(0) };
        let kinds = if wrapped.is_some() { kinds.get(1..).unwrap_or_default() } else { kinds.as_slice() };
        // What is numbered past the end is a copy that fills the statement up.
        let Some(asked) = index.and_then(|index| part.get_mut(index)) else { continue };
        if asked.answer.is_some() {
            twice = twice.or(Some(asked.first));
        } else {
            asked.answer = Some(referenced(&plan.places, kinds, values));
        }
    }
    result.drop_result().await.map_err(|error| classify(&plan.label, error).at_row(first))?;
    twice.map_or(Ok(()), |row| Err(more_than_one_row(&plan.label, row)))
}

fn numbered(part: &[Asked<'_>], size: usize) -> Vec<Wire> {
    let over = size.saturating_sub(part.len());
    let filling = part.last().into_iter().flat_map(|last| repeat_n(last, over));
    let rows = part.iter().chain(filling).zip(0_u64..);
    rows.flat_map(|(asked, number)| [Wire::UInt(number)].into_iter().chain(asked.parameters.iter().map(bind)))
        .collect()
}

fn row_number(value: Wire) -> Option<usize> {
    match value {
        Wire::Int(number) => usize::try_from(number).ok(),
        Wire::UInt(number) => usize::try_from(number).ok(),
        _ => None,
    }
}

fn referenced(places: &[usize], kinds: &[Kind], values: Vec<Wire>) -> Row {
    let mut values: Vec<Option<Wire>> = values.into_iter().map(Some).collect();
    let mut at = |place: &usize| {
        let kind = kinds.get(*place).copied().unwrap_or(Kind::Bytes);
        values.get_mut(*place).and_then(Option::take).map_or(Value::Null, |value| read(kind, value))
    };
    places.iter().map(&mut at).collect()
}

/// The step's plan, made at its first use.
async fn plan(session: &mut MySqlSession, step: usize) -> Result<Plan, DatabaseError> {
    if let Some(Some(plan)) = session.plans.get(step) {
        return Ok(plan.clone());
    }
    let label = session.steps.label(step);
    let lookup = session.steps.lookup(step)?;
    let wanted = lookup.columns.clone();
    let sql = trimmed(&lookup.statement.sql).to_owned();
    let fail = |error| classify(&label, error);
    let single = session.conn()?.prep(sql.as_str()).await.map_err(fail)?;
    let columns = single.columns();
    let given: Vec<String> = columns.iter().map(|column| column.name_str().into_owned()).collect();
    let places = column_places(&label, &wanted, &given)?;
    let many = many_forms(session.conn()?, &label, &sql, &columns, single.num_params()).await?;
    let plan = Plan { label, single: Arc::from(sql), many, places };
    if let Some(slot) = session.plans.get_mut(step) {
        *slot = Some(plan.clone());
    }
    Ok(plan)
}

/// The statements for many rows, where the server takes them and answers in the same types.
async fn many_forms(
    conn: &mut Conn,
    label: &str,
    sql: &str,
    columns: &[Column],
    parameters: u16,
) -> Result<Vec<(usize, Arc<str>)>, DatabaseError> {
    if !may_be_wrapped(sql) {
        return Ok(Vec::new());
    }
    let fits = |size: &usize| size * (usize::from(parameters) + 1) <= PARAMETERS_MAX;
    let sizes = SIZES.into_iter().filter(|size| *size > 1).filter(fits);
    let forms: Vec<(usize, Arc<str>)> = sizes.map(|size| (size, Arc::from(wrapped(sql, size)))).collect();
    let Some((_, smallest)) = forms.last() else { return Ok(Vec::new()) };
    match conn.prep(Arc::clone(smallest)).await {
        Ok(many) => {
            let kinds: Vec<Kind> = many.columns().iter().skip(1).map(Kind::of).collect();
            let same = kinds == columns.iter().map(Kind::of).collect::<Vec<_>>();
            Ok(if same { forms } else { Vec::new() })
        }
        // Two columns of one name, for one, are fine in a result and refused in a derived table.
        Err(Error::Server(_)) => Ok(Vec::new()),
        Err(error) => Err(classify(label, error)),
    }
}

fn wrapped(sql: &str, size: usize) -> String {
    // The line break ends a comment that the look-up may end with.
    let one = format!("SELECT ? AS tidegate_row, q.* FROM ({sql}\n) q");
    vec![one.as_str(); size].join("\nUNION ALL ")
}

fn trimmed(sql: &str) -> &str {
    sql.trim_end_matches(|c: char| c.is_whitespace() || c == ';')
}

/// Whether a look-up means the same inside a derived table: not where it locks rows or sets variables.
fn may_be_wrapped(sql: &str) -> bool {
    let locks =
        |word: &str| ["FOR", "LOCK", "INTO", "PROCEDURE"].iter().any(|w| word.eq_ignore_ascii_case(w));
    !sql.contains('@') && !sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(locks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: &[usize]) -> Plan {
        let many = sizes.iter().map(|size| (*size, Arc::from(""))).collect();
        Plan { label: String::new(), single: Arc::from(""), many, places: Vec::new() }
    }

    #[test]
    fn few_statements_of_few_sizes() {
        let plan_of = plan(&[64, 16, 4]);
        let sizes = |mut left: usize| {
            let mut sizes = Vec::new();
            while left > 0 {
                let (size, take) = next_size(&plan_of, left);
                sizes.push(size);
                left -= take;
            }
            sizes
        };
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(2), [1, 1]);
        assert_eq!(sizes(3), [4]);
        assert_eq!(sizes(40), [64]);
        assert_eq!(sizes(70), [64, 4, 1, 1]);
        assert_eq!(sizes(500), [64; 8]);
        assert_eq!(next_size(&plan(&[]), 9), (1, 1));
    }

    #[test]
    fn equal_rows_are_asked_once() {
        let rows = vec![vec![Value::Int(1)], vec![Value::UInt(1)], vec![Value::Int(1)], vec![Value::Null]];
        let (asked, of_row) = distinct(&rows);
        assert_eq!(of_row, [0, 1, 0, 2]);
        assert_eq!(asked.iter().map(|a| a.first).collect::<Vec<_>>(), [0, 1, 3]);
    }

    #[test]
    fn a_lookup_that_locks_is_not_wrapped() {
        assert!(may_be_wrapped("SELECT a FROM forum WHERE b = ? ORDER BY c LIMIT 1"));
        assert!(!may_be_wrapped("SELECT a FROM t WHERE b = ? for update"));
        assert!(!may_be_wrapped("SELECT a FROM t WHERE b = ? LOCK IN SHARE MODE"));
        assert_eq!(trimmed("SELECT 1 ; \n"), "SELECT 1");
    }
}
