//! Statement: what one SQL statement reads and writes.
//!
//! In:        a step's text with one `?` per parameter, and what is bound to each     Out: its effect: tables, and per table
//!            the columns that are fixed to a parameter in every row that is read, written or left behind
//! Fails:     whatever is not understood has an unknown effect, with the reason
//! Not here:  what the schema adds (links, facts), what follows from it (sets)

use super::expressions::{Reader, table_name};
use super::facts::TableName;
use crate::job::sql::Dialect;
use crate::job::{Statement as Text, ValueRef};
use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, ConflictTarget, Delete, DoUpdate, Expr, FromTable,
    Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Insert, MysqlInsertPriority,
    ObjectName, OnConflictAction, OnInsert, Query, SetExpr, SqliteOnConflict, Statement, TableFactor,
    TableObject, TableWithJoins, Update, Value,
};
use sqlparser::dialect::{MySqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};

/// Columns that are fixed to a parameter, in small letters.
pub(super) type Bound = BTreeMap<String, ValueRef>;

/// What a statement does with one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) table: TableName,
    pub(super) how: How,
    /// In every row that it reads, writes or leaves behind, these columns have these values.
    pub(super) bound: Bound,
    /// It comes with this foreign key.
    pub(super) by_link: Option<String>,
}

/// Reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    Read,
    Write(Write),
}

/// What is done to rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Write {
    /// New ones.
    pub(super) inserts: bool,
    /// Rows go.
    pub(super) deletes: bool,
    /// Columns of rows that are there change.
    pub(super) assigned: BTreeSet<String>,
}

impl Access {
    pub(super) fn writes(&self) -> bool {
        matches!(self.how, How::Write(_))
    }

    pub(super) fn inserts(&self) -> bool {
        matches!(&self.how, How::Write(write) if write.inserts)
    }
}

/// Reads a statement.
pub(super) fn read(text: &Text, dialect: Dialect) -> Result<Vec<Access>, String> {
    let statement = parse(text, dialect)?;
    let of = Of { parameters: &text.parameters, dialect };
    match &statement {
        Statement::Query(query) => of.query(query),
        Statement::Insert(insert) => of.insert(insert),
        Statement::Update(update) => of.update(update),
        Statement::Delete(delete) => of.delete(delete),
        _ => Err("it is neither a SELECT nor an INSERT, REPLACE, UPDATE or DELETE".to_owned()),
    }
}

/// The one statement; its parameters are numbered, so that each says what is bound to it.
fn parse(text: &Text, dialect: Dialect) -> Result<Statement, String> {
    const UNKNOWN: &str = "its SQL is not understood";
    let mysql = MySqlDialect {};
    let sqlite = SQLiteDialect {};
    let rules: &dyn sqlparser::dialect::Dialect = match dialect {
        Dialect::MySql => &mysql,
        Dialect::Sqlite => &sqlite,
    };
    let tokens = Tokenizer::new(rules, &text.sql).tokenize().map_err(|_| UNKNOWN.to_owned())?;
    let mut count = 0_usize;
    let mut numbered = Vec::with_capacity(tokens.len());
    for token in tokens {
        numbered.push(match token {
            Token::AtSign | Token::Assignment => return Err("a variable keeps what ran before".to_owned()),
            Token::Word(word) if word.quote_style.is_none() && word.value.starts_with('@') => {
                return Err("a variable keeps what ran before".to_owned());
            }
            Token::Placeholder(sign) if sign == "?" => {
                count += 1;
                Token::Placeholder(format!("?{}", count - 1))
            }
            Token::Placeholder(_) => return Err(UNKNOWN.to_owned()),
            other => other,
        });
    }
    if count != text.parameters.len() {
        return Err(UNKNOWN.to_owned());
    }
    let statements =
        Parser::new(rules).with_tokens(numbered).parse_statements().map_err(|_| UNKNOWN.to_owned())?;
    match <[Statement; 1]>::try_from(statements) {
        Ok([one]) => Ok(one),
        Err(_) => Err(UNKNOWN.to_owned()),
    }
}

struct Of<'a> {
    parameters: &'a [ValueRef],
    dialect: Dialect,
}

impl Of<'_> {
    fn query(&self, query: &Query) -> Result<Vec<Access>, String> {
        let mut reader = Reader::new(self.dialect, true);
        reader.read(query)?;
        let selection = match &*query.body {
            SetExpr::Select(select) => select.selection.as_ref(),
            _ => None,
        };
        let alone = match &*query.body {
            SetExpr::Select(select) => match select.from.as_slice() {
                [from] => from.joins.is_empty() && matches!(from.relation, TableFactor::Table { .. }),
                _ => false,
            },
            _ => false,
        };
        let bound = |alias: &str| {
            let mut bound = Bound::new();
            if let Some(selection) = selection {
                self.fixed(selection, alias, alone, &mut bound);
            }
            bound
        };
        let access = |source: super::expressions::Source| Access {
            bound: if source.depth == 1 { bound(&source.alias) } else { Bound::new() },
            table: source.table,
            how: How::Read,
            by_link: None,
        };
        Ok(reader.sources.into_iter().map(access).collect())
    }

    /// What every row that meets a condition has in its columns.
    fn fixed(&self, condition: &Expr, alias: &str, alone: bool, bound: &mut Bound) {
        match condition {
            Expr::Nested(inner) => self.fixed(inner, alias, alone, bound),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.fixed(left, alias, alone, bound);
                self.fixed(right, alias, alone, bound);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                let pair = |column: &Expr, value: &Expr| {
                    Some((column_of(column, alias, alone)?, self.parameter(value)?))
                };
                if let Some((column, value)) = pair(left, right).or_else(|| pair(right, left)) {
                    bound.entry(column).or_insert(value);
                }
            }
            _ => {}
        }
    }

    /// What is bound to a `?` that stands by itself.
    fn parameter(&self, expr: &Expr) -> Option<ValueRef> {
        let Expr::Value(value) = expr else { return None };
        let Value::Placeholder(sign) = &value.value else { return None };
        let index: usize = sign.strip_prefix('?')?.parse().ok()?;
        self.parameters.get(index).cloned()
    }

    fn insert(&self, insert: &Insert) -> Result<Vec<Access>, String> {
        let Insert {
            insert_token: _,
            optimizer_hints,
            or,
            ignore,
            into: _,
            table,
            table_alias,
            columns,
            by_name,
            overwrite,
            source,
            assignments,
            partitioned,
            after_columns,
            overriding,
            has_table_keyword,
            on,
            returning,
            output,
            replace_into,
            priority,
            insert_alias,
            settings,
            ..
        } = insert;
        let odd =
            *by_name || *overwrite || *has_table_keyword || partitioned.is_some() || overriding.is_some();
        let more = output.is_some() || settings.is_some() || returning.is_some() || !after_columns.is_empty();
        let delayed = matches!(priority, Some(MysqlInsertPriority::Delayed));
        if odd
            || more
            || delayed
            || table_alias.is_some()
            || insert_alias.is_some()
            || !optimizer_hints.is_empty()
        {
            return Err("its form is not looked into".to_owned());
        }
        let TableObject::TableName(table) = table else {
            return Err("it writes to something that is not a table".to_owned());
        };
        let replaces = *replace_into || matches!(or, Some(SqliteOnConflict::Replace));
        if matches!(or, Some(SqliteOnConflict::Rollback | SqliteOnConflict::Fail)) {
            return Err("a conflict ends more than the row".to_owned());
        }
        let mut bound = match source {
            Some(source) => self.values(columns, source)?,
            None => Bound::new(),
        };
        for assignment in assignments {
            self.look_at(&assignment.value)?;
            if let ([column], Some(value)) =
                (targets(assignment)?.as_slice(), self.parameter(&assignment.value))
            {
                bound.insert(column.clone(), value);
            }
        }
        let changed = self.on_conflict(on.as_ref())?;
        let assigned = self.changes(&changed, &mut bound, true)?;
        if *ignore && self.dialect == Dialect::MySql {
            // A value that does not fit is stored changed.
            bound.clear();
        }
        let write = Write { inserts: true, deletes: replaces, assigned };
        Ok(vec![Access { table: table_name(table)?, how: How::Write(write), bound, by_link: None }])
    }

    /// The columns that all rows of a VALUES fix to one parameter.
    fn values(&self, columns: &[ObjectName], source: &Query) -> Result<Bound, String> {
        let SetExpr::Values(values) = &*source.body else {
            return Err("a sub-select in a statement that writes".to_owned());
        };
        let plain = source.with.is_none() && source.order_by.is_none() && source.limit_clause.is_none();
        if !plain || source.fetch.is_some() || !source.locks.is_empty() {
            return Err("its form is not looked into".to_owned());
        }
        let mut all: Option<Bound> = None;
        for row in &values.rows {
            let mut bound = Bound::new();
            for (index, value) in row.iter().enumerate() {
                self.look_at(value)?;
                let column = columns.get(index).map(last_part).transpose()?;
                if let (Some(column), Some(value)) = (column, self.parameter(value)) {
                    bound.insert(column, value);
                }
            }
            all = Some(match all {
                None => bound,
                Some(mut before) => {
                    before.retain(|column, value| bound.get(column) == Some(value));
                    before
                }
            });
        }
        Ok(all.unwrap_or_default())
    }

    /// What becomes of a row that is there already.
    fn on_conflict<'q>(&self, on: Option<&'q OnInsert>) -> Result<Vec<&'q Assignment>, String> {
        match on {
            None => Ok(Vec::new()),
            Some(OnInsert::DuplicateKeyUpdate(list)) => Ok(list.iter().collect()),
            Some(OnInsert::OnConflict(conflict)) => {
                match &conflict.conflict_target {
                    None | Some(ConflictTarget::Columns { predicate: None, .. }) => {}
                    Some(ConflictTarget::Columns { predicate: Some(predicate), .. }) => {
                        self.look_at(predicate)?
                    }
                    Some(ConflictTarget::OnConstraint(_)) => {
                        return Err("its form is not looked into".to_owned());
                    }
                }
                match &conflict.action {
                    OnConflictAction::DoNothing => Ok(Vec::new()),
                    OnConflictAction::DoUpdate(DoUpdate { assignments, selection }) => {
                        if let Some(selection) = selection {
                            self.look_at(selection)?;
                        }
                        Ok(assignments.iter().collect())
                    }
                }
            }
            Some(_) => Err("its form is not looked into".to_owned()),
        }
    }

    /// The columns that change; what is no longer fixed goes from `bound`. `upsert`: what the new row has can be said by name.
    fn changes(
        &self,
        list: &[&Assignment],
        bound: &mut Bound,
        upsert: bool,
    ) -> Result<BTreeSet<String>, String> {
        let mut assigned = BTreeSet::new();
        for assignment in list {
            self.look_at(&assignment.value)?;
            let columns = targets(assignment)?;
            for column in &columns {
                let same = columns.len() == 1
                    && ((upsert && is_of_new_row(&assignment.value, column))
                        || (self.parameter(&assignment.value).is_some()
                            && self.parameter(&assignment.value).as_ref() == bound.get(column)));
                if !same {
                    bound.remove(column);
                }
                // A row that an upsert finds by another key may have had another value.
                if !same || upsert {
                    assigned.insert(column.clone());
                }
            }
        }
        Ok(assigned)
    }

    fn update(&self, update: &Update) -> Result<Vec<Access>, String> {
        let Update {
            update_token: _,
            optimizer_hints,
            table,
            assignments,
            from,
            selection,
            returning,
            output,
            or,
            order_by,
            limit,
            ..
        } = update;
        if from.is_some()
            || returning.is_some()
            || output.is_some()
            || or.is_some()
            || !optimizer_hints.is_empty()
        {
            return Err("its form is not looked into".to_owned());
        }
        if limit.is_some() || !order_by.is_empty() {
            return Err("which rows its LIMIT leaves out depends on their order".to_owned());
        }
        let (table, alias) = single(table)?;
        let mut bound = self.rows(selection.as_ref(), &alias)?;
        let list: Vec<&Assignment> = assignments.iter().collect();
        let assigned = self.changes(&list, &mut bound, false)?;
        let write = Write { assigned, ..Write::default() };
        Ok(vec![Access { table, how: How::Write(write), bound, by_link: None }])
    }

    fn delete(&self, delete: &Delete) -> Result<Vec<Access>, String> {
        let Delete {
            delete_token: _,
            optimizer_hints,
            tables,
            from,
            using,
            selection,
            returning,
            output,
            order_by,
            limit,
            ..
        } = delete;
        if !tables.is_empty()
            || using.is_some()
            || returning.is_some()
            || output.is_some()
            || !optimizer_hints.is_empty()
        {
            return Err("its form is not looked into".to_owned());
        }
        if limit.is_some() || !order_by.is_empty() {
            return Err("which rows its LIMIT leaves out depends on their order".to_owned());
        }
        let (FromTable::WithFromKeyword(list) | FromTable::WithoutKeyword(list)) = from;
        let [table] = list.as_slice() else { return Err("it writes to several tables".to_owned()) };
        let (table, alias) = single(table)?;
        let bound = self.rows(selection.as_ref(), &alias)?;
        let write = Write { deletes: true, ..Write::default() };
        Ok(vec![Access { table, how: How::Write(write), bound, by_link: None }])
    }

    /// What all rows have that a statement writes to.
    fn rows(&self, selection: Option<&Expr>, alias: &str) -> Result<Bound, String> {
        let mut bound = Bound::new();
        if let Some(selection) = selection {
            self.look_at(selection)?;
            self.fixed(selection, alias, true, &mut bound);
        }
        Ok(bound)
    }

    fn look_at(&self, expr: &Expr) -> Result<(), String> {
        Reader::new(self.dialect, false).read(expr)
    }
}

/// The one table that is written, and how its columns are qualified.
fn single(table: &TableWithJoins) -> Result<(TableName, String), String> {
    let TableFactor::Table { name, alias, partitions, with_hints, args: None, .. } = &table.relation else {
        return Err("it writes to something that is not a table".to_owned());
    };
    if !table.joins.is_empty() || !partitions.is_empty() || !with_hints.is_empty() {
        return Err("it writes to several tables, or to a part of one".to_owned());
    }
    let table = table_name(name)?;
    let alias = alias.as_ref().map_or_else(|| table.name.clone(), |alias| alias.name.value.to_lowercase());
    Ok((table, alias))
}

/// The column of the table with this alias, in small letters. `alone`: no other table is there that could have it.
fn column_of(expr: &Expr, alias: &str, alone: bool) -> Option<String> {
    match expr {
        Expr::Identifier(column) if alone => Some(column.value.to_lowercase()),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, column] if table.value.to_lowercase() == alias => Some(column.value.to_lowercase()),
            _ => None,
        },
        _ => None,
    }
}

fn targets(assignment: &Assignment) -> Result<Vec<String>, String> {
    match &assignment.target {
        AssignmentTarget::ColumnName(name) => Ok(vec![last_part(name)?]),
        AssignmentTarget::Tuple(names) => names.iter().map(last_part).collect(),
    }
}

fn last_part(name: &ObjectName) -> Result<String, String> {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.map(|ident| ident.value.to_lowercase()).ok_or_else(|| "a name that is calculated".to_owned())
}

/// `VALUES(column)` or `excluded.column`
fn is_of_new_row(expr: &Expr, column: &str) -> bool {
    let is_it = |ident: &Ident| ident.value.to_lowercase() == column;
    match expr {
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, name] => table.value.eq_ignore_ascii_case("excluded") && is_it(name),
            _ => false,
        },
        Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) => {
            let called = name.0.last().and_then(|part| part.as_ident());
            let values = called.is_some_and(|name| name.value.eq_ignore_ascii_case("values"));
            let of = |argument: &FunctionArg| matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(name))) if is_it(name));
            values && list.args.len() == 1 && list.args.iter().all(of)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
