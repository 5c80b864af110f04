//! Expressions: whether all that a statement calculates depends on its parameters and on rows alone, and the tables it reads.
//!
//! In:        the parts of a parsed statement     Out: the tables of its FROMs; or why nobody can say what it does
//! Fails:     whatever is not known is refused: a new kind of expression is none of these until somebody has looked at it
//! Not here:  which rows of a table are meant (statement)

use super::facts::TableName;
use super::functions::{against, clock, takes_a_moment, word_against};
use crate::job::sql::Dialect;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    GroupByExpr, Ident, InTarget, ObjectName, Query, Select, SelectFlavor, SetExpr, TableFactor, Value,
    Visit, Visitor,
};
use std::ops::ControlFlow;

/// A table in a FROM.
pub(super) struct Source {
    pub(super) table: TableName,
    /// As columns of it are qualified, in small letters.
    pub(super) alias: String,
    /// 1: in the statement's own FROM; more: further inside.
    pub(super) depth: usize,
}

/// What was seen so far.
pub(super) struct Reader {
    dialect: Dialect,
    /// Sub-selects are understood.
    may_ask: bool,
    depth: usize,
    pub(super) sources: Vec<Source>,
}

type Flow = ControlFlow<String>;

fn refuse(why: impl Into<String>) -> Flow {
    ControlFlow::Break(why.into())
}

impl Reader {
    pub(super) fn new(dialect: Dialect, may_ask: bool) -> Reader {
        Reader { dialect, may_ask, depth: 0, sources: Vec::new() }
    }

    /// Looks at a part of the statement.
    pub(super) fn read<T: Visit>(&mut self, part: &T) -> Result<(), String> {
        match part.visit(self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(why) => Err(why),
        }
    }

    fn function(&self, function: &Function) -> Flow {
        let Function {
            name,
            uses_odbc_syntax,
            parameters,
            args,
            within_group,
            filter: _,
            null_treatment,
            over,
        } = function;
        let [name] = name.0.as_slice() else {
            return refuse(format!("`{name}` is a function of the schema"));
        };
        let Some(name) = name.as_ident().map(|ident| ident.value.as_str()) else {
            return refuse("a name that is calculated");
        };
        let is_plain = matches!(parameters, FunctionArguments::None)
            && !*uses_odbc_syntax
            && within_group.is_empty()
            && null_treatment.is_none();
        if !is_plain || over.is_some() {
            return refuse(format!("`{name}` is called in a way that is not looked into"));
        }
        let (arguments, clauses) = match args {
            FunctionArguments::List(list) => (list.args.as_slice(), list.clauses.as_slice()),
            FunctionArguments::None => (&[][..], &[][..]),
            FunctionArguments::Subquery(_) => return refuse(format!("`{name}` is called with a sub-select")),
        };
        let known = |clause: &FunctionArgumentClause| {
            matches!(clause, FunctionArgumentClause::OrderBy(_) | FunctionArgumentClause::Separator(_))
        };
        if !clauses.iter().all(known) {
            return refuse(format!("`{name}` is called in a way that is not looked into"));
        }
        if let Some(why) = against(name, arguments.len(), self.dialect) {
            return refuse(why);
        }
        if takes_a_moment(name, self.dialect) && arguments.iter().any(may_be_now) {
            return refuse(clock(&format!("{name}('now')")));
        }
        ControlFlow::Continue(())
    }

    fn column(&self, ident: &Ident) -> Flow {
        if ident.value.starts_with('@') {
            return refuse("a variable keeps what ran before");
        }
        if ident.quote_style.is_none()
            && let Some(why) = word_against(&ident.value, self.dialect)
        {
            return refuse(why);
        }
        let number = ["rowid", "oid", "_rowid_"].iter().any(|name| ident.value.eq_ignore_ascii_case(name));
        if number && self.dialect == Dialect::Sqlite {
            return refuse("a row's number depends on the order in which rows came");
        }
        ControlFlow::Continue(())
    }
}

/// SQLite takes a word for a moment: now. In double quotes it is a text, too, where no column is named so.
fn may_be_now(argument: &FunctionArg) -> bool {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(value))) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                text.trim().eq_ignore_ascii_case("now")
            }
            _ => false,
        },
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(ident))) => {
            ident.value.eq_ignore_ascii_case("now")
        }
        _ => false,
    }
}

fn is_known(op: &BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(
        op,
        Op::Plus
            | Op::Minus
            | Op::Multiply
            | Op::Divide
            | Op::Modulo
            | Op::StringConcat
            | Op::Gt
            | Op::Lt
            | Op::GtEq
            | Op::LtEq
            | Op::Spaceship
            | Op::Eq
            | Op::NotEq
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::BitwiseOr
            | Op::BitwiseAnd
            | Op::BitwiseXor
            | Op::MyIntegerDivide
            | Op::PGBitwiseShiftLeft
            | Op::PGBitwiseShiftRight
            | Op::Arrow
            | Op::LongArrow
            | Op::Regexp
    )
}

/// The name of a table, in small letters; none: it is not one of the job's own.
pub(super) fn table_name(name: &ObjectName) -> Result<TableName, String> {
    let parts: Option<Vec<String>> =
        name.0.iter().map(|part| part.as_ident().map(|ident| ident.value.to_lowercase())).collect();
    let found = match parts.as_deref() {
        Some([name]) => TableName { schema: None, name: name.clone() },
        Some([schema, name]) => TableName { schema: Some(schema.clone()), name: name.clone() },
        _ => return Err(format!("`{name}` is not a table's name")),
    };
    let servers = ["information_schema", "performance_schema", "mysql", "sys", "temp"];
    let own = ["sqlite_", "pragma_", "tidegate_"];
    if found.schema.as_deref().is_some_and(|schema| servers.contains(&schema))
        || own.iter().any(|prefix| found.name.starts_with(prefix))
    {
        return Err(format!("`{found}` is not one of the job's own tables"));
    }
    Ok(found)
}

impl Visitor for Reader {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        if !self.may_ask {
            return refuse("a sub-select in a statement that writes");
        }
        self.depth += 1;
        let Query {
            with,
            body,
            order_by: _,
            limit_clause: _,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        if !locks.is_empty() {
            return refuse("it locks what it reads, in the order of the events");
        }
        let odd = fetch.is_some() || for_clause.is_some() || settings.is_some() || format_clause.is_some();
        if odd || with.is_some() || !pipe_operators.is_empty() || !is_understood(body) {
            return refuse("its form is not looked into");
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> Flow {
        self.depth = self.depth.saturating_sub(1);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct: _,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection: _,
            exclude,
            into,
            from: _,
            lateral_views,
            prewhere,
            selection: _,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having: _,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        if select_modifiers.as_ref().is_some_and(|modifiers| modifiers.sql_calc_found_rows) {
            return refuse("SQL_CALC_FOUND_ROWS leaves a state");
        }
        let odd =
            top.is_some() || exclude.is_some() || into.is_some() || prewhere.is_some() || qualify.is_some();
        let lists =
            cluster_by.len() + distribute_by.len() + sort_by.len() + connect_by.len() + lateral_views.len();
        let more = lists + named_window.len() + optimizer_hints.len();
        let grouped = matches!(group_by, GroupByExpr::Expressions(_, modifiers) if modifiers.is_empty());
        if odd || more > 0 || !grouped || value_table_mode.is_some() || *flavor != SelectFlavor::Standard {
            return refuse("its form is not looked into");
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_directives: _,
                inheritance: None,
            } if with_hints.is_empty() && partitions.is_empty() => {
                let table = match table_name(name) {
                    Ok(table) => table,
                    Err(why) => return refuse(why),
                };
                let dual = table.schema.is_none() && table.name == "dual" && self.dialect == Dialect::MySql;
                if !dual {
                    let alias =
                        alias.as_ref().map_or(table.name.clone(), |alias| alias.name.value.to_lowercase());
                    self.sources.push(Source { table, alias, depth: self.depth });
                }
                ControlFlow::Continue(())
            }
            TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            _ => refuse("it reads from something that is not a table"),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        match expr {
            Expr::Identifier(ident) => self.column(ident),
            Expr::CompoundIdentifier(parts) => match parts.last() {
                // Behind a dot no word is a function.
                Some(last) => self.column(&Ident { quote_style: Some('`'), ..last.clone() }),
                None => ControlFlow::Continue(()),
            },
            Expr::Function(function) => self.function(function),
            Expr::BinaryOp { op, .. } if is_known(op) => ControlFlow::Continue(()),
            Expr::In { target: InTarget::List(_) | InTarget::Subquery(_), .. } => ControlFlow::Continue(()),
            Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::RLike { .. }
            | Expr::UnaryOp { .. }
            | Expr::Convert { .. }
            | Expr::Cast { .. }
            | Expr::Extract { .. }
            | Expr::Ceil { .. }
            | Expr::Floor { .. }
            | Expr::Position { .. }
            | Expr::Substring { .. }
            | Expr::Trim { .. }
            | Expr::Collate { .. }
            | Expr::Nested(_)
            | Expr::Value(_)
            | Expr::Prefixed { .. }
            | Expr::TypedString(_)
            | Expr::Case { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::Tuple(_)
            | Expr::Wildcard(_)
            | Expr::QualifiedWildcard(..)
            | Expr::Interval(_) => ControlFlow::Continue(()),
            _ => refuse("it has an expression that is not looked into"),
        }
    }
}

fn is_understood(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(_) | SetExpr::Query(_) => true,
        SetExpr::SetOperation { left, right, .. } => is_understood(left) && is_understood(right),
        SetExpr::Values(_)
        | SetExpr::Insert(_)
        | SetExpr::Update(_)
        | SetExpr::Delete(_)
        | SetExpr::Merge(_)
        | SetExpr::Table(_) => false,
    }
}
