//! `when`: a comparison of values, and what joins several.
//!
//! NULL is unknown, as in SQL: what compares with it holds no more than its opposite does.

use super::database::ValueRef;

/// A checked condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `:a = 1`
    Compare {
        /// On the left.
        left: Operand,
        /// The operator.
        by: Comparison,
        /// On the right.
        right: Operand,
    },
    /// `:a is null`
    IsNull(ValueRef),
    /// `:a in ('x', 'y')`
    In {
        /// What is looked for.
        value: ValueRef,
        /// Literals.
        among: Vec<Operand>,
    },
    /// `a and b`
    All(Vec<Condition>),
    /// `a or b`
    Any(Vec<Condition>),
    /// `not a`
    Not(Box<Condition>),
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// `:field`
    Value(ValueRef),
    /// `'text'`
    Text(String),
    /// `-1.50`, canonical.
    Number(String),
    /// `true`
    Bool(bool),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=` and `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}
