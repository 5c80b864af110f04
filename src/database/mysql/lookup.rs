//! Look-ups: one SELECT for many rows of parameters, in few round trips.
//!
//! In:        a step, rows of parameters
//! Out:       per row of parameters the referenced columns of the row found, or `None`
//! Order:     equal rows of parameters are asked once. Distinct ones go in statements of fixed sizes, so that few are
//!            ever prepared: `... WHERE key IN (?, ?, ...)` where the program can tell which row is whose (lookup/within), else
//!            `SELECT ? AS tidegate_row, q.* FROM (<look-up>) q UNION ALL ...`
//! Holds:     per step whether the server takes those forms and gives the same types by them; else one by one
//! Fails:     misconfigured: a referenced column that is not there; reject: more than one row for one row of parameters
//! Not here:  what a missing row means (the caller)

mod within;

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
use within::{Declared, Exact, Key, Within};

/// How many rows of parameters one statement asks for.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// Most parameters that a statement may have.
const PARAMETERS_MAX: usize = 65_535;

/// How a look-up is asked on this connection.
#[derive(Debug)]
pub(super) struct Plan {
    label: String,
    /// For one row of parameters.
    single: Arc<str>,
    /// For many, by size; empty: the server does not take that form.
    many: Vec<(usize, Arc<str>)>,
    /// For many, where rows can be told apart by what they were asked for.
    within: Option<Within>,
    /// Where the referenced columns stand in the look-up's own result.
    places: Vec<usize>,
}

#[cfg(test)]
impl Plan {
    /// How many statements for many rows there are.
    pub(super) fn forms(&self) -> usize {
        self.many.len()
    }

    /// Whether rows are asked for by IN.
    pub(super) fn is_within(&self) -> bool {
        self.within.is_some()
    }
}

/// One row of parameters, once.
struct Asked<'a> {
    parameters: &'a [Value],
    /// What the look-up's column must be exactly.
    exact: Option<Exact<'a>>,
    /// The first that asked for it.
    first: usize,
    answer: Option<Row>,
}

/// By what rows of parameters are the same.
#[derive(PartialEq, Eq, Hash)]
enum Same<'a> {
    Exact(Exact<'a>),
    Encoded(Vec<u8>),
}

/// The rows that differ, and for each row which of them it is.
struct Distinct<'a> {
    asked: Vec<Asked<'a>>,
    seen: HashMap<Same<'a>, usize>,
    of_row: Vec<usize>,
}

/// Runs look-up `step` for all rows.
pub(super) async fn run(
    session: &mut MySqlSession,
    step: usize,
    rows: &[Row],
) -> Result<Vec<Option<Row>>, DatabaseError> {
    let plan = plan(session, step).await?;
    let conn = session.conn()?;
    let Distinct { mut asked, seen, of_row } = distinct(rows, plan.within.as_ref().map(|within| within.key));
    let mut rest: Vec<usize> = (0..asked.len()).collect();
    if let Some(within) = &plan.within {
        // Nothing is equal to NULL.
        rest.retain(|index| asked.get(*index).is_some_and(|asked| *asked.parameters != [Value::Null]));
        let is_exact = |index: &usize| asked.get(*index).is_some_and(|asked| asked.exact.is_some());
        let (exact, others): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(is_exact);
        rest = others;
        let mut exact = exact.as_slice();
        while !exact.is_empty() {
            let (size, take) = within.next_size(exact.len());
            let (part, later) = exact.split_at_checked(take).unwrap_or_default();
            exact = later;
            if !ask_within(conn, (&plan, within), size, part, (&mut asked, &seen)).await? {
                rest.extend(part);
            }
        }
        rest.sort_unstable();
    }
    let mut rest: Vec<&mut Asked<'_>> = asked
        .iter_mut()
        .enumerate()
        .filter(|(index, _)| rest.binary_search(index).is_ok())
        .map(|(_, asked)| asked)
        .collect();
    let mut rest = rest.as_mut_slice();
    while !rest.is_empty() {
        let (size, take) = next_size(&plan.many, rest.len());
        let (part, later) = rest.split_at_mut_checked(take).unwrap_or_default();
        ask(conn, &plan, size, part).await?;
        rest = later;
    }
    Ok(answers(asked, &of_row))
}

/// What each row gets: the last that asked for an answer takes it, and the others a copy.
fn answers(mut asked: Vec<Asked<'_>>, of_row: &[usize]) -> Vec<Option<Row>> {
    let mut last = vec![0; asked.len()];
    for (row, index) in of_row.iter().enumerate() {
        if let Some(last) = last.get_mut(*index) {
            *last = row;
        }
    }
    let answer = |(row, index): (usize, &usize)| {
        let asked = asked.get_mut(*index)?;
        if last.get(*index) == Some(&row) { asked.answer.take() } else { asked.answer.clone() }
    };
    of_row.iter().enumerate().map(answer).collect()
}

/// `key`: of what kind the look-up's only parameter is.
fn distinct(rows: &[Row], key: Option<Key>) -> Distinct<'_> {
    let mut asked: Vec<Asked<'_>> = Vec::with_capacity(rows.len());
    let mut seen = HashMap::with_capacity(rows.len());
    let of_row = rows.iter().enumerate().map(|(first, parameters)| {
        let fresh = asked.len();
        let exact = match (key, parameters.as_slice()) {
            (Some(key), [parameter]) => key.exact(parameter),
            _ => None,
        };
        let same = match exact {
            Some(exact) => Some(Same::Exact(exact)),
            // A row that cannot be encoded is asked for itself.
            None => postcard::to_allocvec(parameters).ok().map(Same::Encoded),
        };
        let index = same.map_or(fresh, |same| *seen.entry(same).or_insert(fresh));
        if index == fresh {
            asked.push(Asked { parameters, exact, first, answer: None });
        }
        index
    });
    let of_row = of_row.collect();
    Distinct { asked, seen, of_row }
}

/// The size of the next statement and how many rows it answers. A statement may be filled up with copies of its
/// last row, where that wastes less than half of it.
fn next_size(many: &[(usize, Arc<str>)], left: usize) -> (usize, usize) {
    let mut best = (1, 1);
    for (size, _) in many.iter().rev() {
        if *size <= left || left * 2 > *size {
            best = (*size, left.min(*size));
        }
    }
    best
}

/// The statement of a size, if it is one for many.
fn of_size(many: &[(usize, Arc<str>)], size: usize) -> Option<&Arc<str>> {
    many.iter().find(|(of, _)| *of == size && size > 1).map(|(_, sql)| sql)
}

/// Asks for a part by IN. `false`: a row was found of which it is not sure whose it is, and nothing of the answer counts.
async fn ask_within<'a>(
    conn: &mut Conn,
    (plan, within): (&Plan, &Within),
    size: usize,
    part: &[usize],
    (all, seen): (&mut [Asked<'a>], &HashMap<Same<'a>, usize>),
) -> Result<bool, DatabaseError> {
    let (Some(sql), Some(least), Some(most)) = (of_size(&within.many, size), part.first(), part.last())
    else {
        // One alone is asked as the job has it.
        return Ok(false);
    };
    let exact = |index: &usize| all.get(*index)?.exact;
    let filling = part.iter().cycle().take(size);
    let parameters: Vec<Wire> = filling.filter_map(exact).map(|exact| exact.bind()).collect();
    let first = all.get(*least).map_or(0, |asked| asked.first);
    let fail = |error| classify(&plan.label, error);
    let mut result = conn.exec_iter(Arc::clone(sql), Params::Positional(parameters)).await.map_err(fail)?;
    let kinds: Vec<Kind> = result.columns_ref().iter().map(Kind::of).collect();
    let (mut twice, mut is_sure) = (None, true);
    // Read to the end, whatever is in it: what is left unread would be the next statement's answer.
    while let Some(row) = result.next().await.map_err(fail)? {
        let mut values = row.unwrap();
        let key = values.pop().unwrap_or(Wire::NULL);
        let index = Exact::found(&key).and_then(|exact| seen.get(&Same::Exact(exact)).copied());
        let index = index.filter(|index| (least..=most).contains(&index));
        let Some(asked) = index.and_then(|index| all.get_mut(index)) else {
            is_sure = false;
            continue;
        };
        if asked.answer.is_some() {
            twice = twice.or(Some(asked.first));
        } else {
            asked.answer = Some(referenced(&plan.places, &kinds, values));
        }
    }
    result.drop_result().await.map_err(|error| classify(&plan.label, error).at_row(first))?;
    if !is_sure {
        part.iter().for_each(|index| all.get_mut(*index).into_iter().for_each(|asked| asked.answer = None));
        return Ok(false);
    }
    twice.map_or(Ok(true), |row| Err(more_than_one_row(&plan.label, row)))
}

async fn ask(
    conn: &mut Conn,
    plan: &Plan,
    size: usize,
    part: &mut [&mut Asked<'_>],
) -> Result<(), DatabaseError> {
    let wrapped = of_size(&plan.many, size);
    let (sql, parameters) = match wrapped {
        Some(sql) => (sql, numbered(part, size)),
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

fn numbered(part: &[&mut Asked<'_>], size: usize) -> Vec<Wire> {
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
async fn plan(session: &mut MySqlSession, step: usize) -> Result<Arc<Plan>, DatabaseError> {
    if let Some(Some(plan)) = session.plans.get(step) {
        return Ok(Arc::clone(plan));
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
    let within = by_key(session.conn()?, &label, &sql, &columns, single.num_params()).await?;
    let plan = Arc::new(Plan { label, single: Arc::from(sql), many, within, places });
    if let Some(slot) = session.plans.get_mut(step) {
        *slot = Some(Arc::clone(&plan));
    }
    Ok(plan)
}

/// The look-up by IN, where it is sure to find the same.
async fn by_key(
    conn: &mut Conn,
    label: &str,
    sql: &str,
    columns: &[Column],
    parameters: u16,
) -> Result<Option<Within>, DatabaseError> {
    let (Some(smallest), 1) = (Within::smallest(sql), parameters) else { return Ok(None) };
    let many = match conn.prep(smallest).await {
        Ok(many) => many.columns(),
        Err(Error::Server(_)) => return Ok(None),
        Err(error) => return Err(classify(label, error)),
    };
    let Some((key, own)) = many.split_last() else { return Ok(None) };
    let kinds = |columns: &[Column]| columns.iter().map(Kind::of).collect::<Vec<_>>();
    if kinds(own) != kinds(columns) {
        return Ok(None);
    }
    let key = match Key::of(key) {
        None => None,
        Some(Ok(key)) => Some(key),
        Some(Err(Declared { schema, table, name })) => {
            let asked = "SELECT CAST(DATA_TYPE AS CHAR), COLLATION_NAME FROM information_schema.COLUMNS \
                         WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND COLUMN_NAME = ?";
            let found = conn.exec_first(asked, (schema, table, name)).await;
            let found: Option<(String, Option<String>)> = found.map_err(|error| classify(label, error))?;
            found.and_then(|(declared, collation)| Key::of_text(&declared, &collation?))
        }
    };
    Ok(key.and_then(|key| Within::new(sql, key)))
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

    fn many(sizes: &[usize]) -> Vec<(usize, Arc<str>)> {
        sizes.iter().map(|size| (*size, Arc::from(""))).collect()
    }

    #[test]
    fn few_statements_of_few_sizes() {
        let many_of = many(&[64, 16, 4]);
        let sizes = |mut left: usize| {
            let mut sizes = Vec::new();
            while left > 0 {
                let (size, take) = next_size(&many_of, left);
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
        assert_eq!(next_size(&many(&[]), 9), (1, 1));
    }

    #[test]
    fn equal_rows_are_asked_once() {
        let rows = vec![vec![Value::Int(1)], vec![Value::UInt(1)], vec![Value::Int(1)], vec![Value::Null]];
        let of = |key| {
            let Distinct { asked, of_row, .. } = distinct(&rows, key);
            (asked.iter().map(|a| a.first).collect::<Vec<_>>(), of_row)
        };
        assert_eq!(of(None), (vec![0, 1, 3], vec![0, 1, 0, 2]));
        assert_eq!(of(Some(Key::Number)), (vec![0, 3], vec![0, 0, 0, 1]));
    }

    #[test]
    fn an_answer_goes_to_everyone_who_asked() {
        let rows = [1, 2, 1, 1].map(|number| vec![Value::Int(number)]);
        let Distinct { mut asked, of_row, .. } = distinct(&rows, None);
        asked[0].answer = Some(vec![Value::Bool(true)]);
        let yes = Some(vec![Value::Bool(true)]);
        assert_eq!(answers(asked, &of_row), [yes.clone(), None, yes.clone(), yes]);
    }

    #[test]
    fn a_lookup_that_locks_is_not_wrapped() {
        assert!(may_be_wrapped("SELECT a FROM forum WHERE b = ? ORDER BY c LIMIT 1"));
        assert!(!may_be_wrapped("SELECT a FROM t WHERE b = ? for update"));
        assert!(!may_be_wrapped("SELECT a FROM t WHERE b = ? LOCK IN SHARE MODE"));
        assert_eq!(trimmed("SELECT 1 ; \n"), "SELECT 1");
    }
}
