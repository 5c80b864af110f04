//! Condition: whether what `when` says holds of an event. (Filled in beside this.)

use crate::job::{Condition, ValueRef};
use crate::model::Value;

/// Whether it holds; NULL is unknown, and what is unknown does not hold.
pub fn holds(condition: &Condition, value: &dyn Fn(&ValueRef) -> Value) -> bool {
    use crate::job::{Comparison, Operand};
    match condition {
        Condition::IsNull(of) => value(of) == Value::Null,
        Condition::Compare { left, by, right } => {
            let operand = |operand: &Operand| match operand {
                Operand::Value(of) => crate::xml::text_of(&value(of)),
                Operand::Text(text) | Operand::Number(text) => Some(text.clone()),
                Operand::Bool(truth) => Some(truth.to_string()),
            };
            match (operand(left), operand(right), by) {
                (Some(left), Some(right), Comparison::Equal) => left == right,
                (Some(left), Some(right), Comparison::NotEqual) => left != right,
                _ => false,
            }
        }
        Condition::All(list) => list.iter().all(|one| holds(one, value)),
        Condition::Any(list) => list.iter().any(|one| holds(one, value)),
        Condition::Not(one) => !holds(one, value),
        Condition::In { .. } => false,
    }
}
