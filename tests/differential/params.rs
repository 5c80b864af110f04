//! Params: what stands in statements, and what conditions ask.
//!
//! In:        the look-ups so far, whether it is for the rows of a list     Out: `:name`
//! Not here:  the statements (lookups, stores)

use super::chance::Chance;
use super::schema::{Dialect, Schema, Style, Table, Taste};
use tidegate::testing::Random;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Key,
    Int,
    Text,
    Decimal,
}

/// A look-up that later steps may name.
#[derive(Clone, Debug)]
pub struct Look {
    pub name: String,
    pub columns: Vec<(&'static str, Of)>,
}

/// A step under way.
pub struct Draft<'a> {
    pub random: &'a mut Random,
    pub schema: &'a Schema,
    pub taste: Taste,
    /// Tables that earlier steps have taken for themselves.
    pub taken: &'a mut Vec<String>,
    pub looks: &'a [Look],
    /// It is run for each row of the list.
    pub rows: bool,
    /// It is run for tombstones, which have a Kafka key and no fields.
    pub tombstone: bool,
}

impl Draft<'_> {
    pub fn dialect(&self) -> Dialect {
        self.schema.dialect
    }

    /// For a step; in a job whose steps keep apart one that nobody has taken, where there is one.
    pub fn table(&mut self) -> Table {
        let taken = |table: &&Table| self.taken.contains(&table.name);
        let free: Vec<&Table> = self.schema.tables.iter().filter(|table| !taken(table)).collect();
        let apart = self.taste.style == Style::Apart && !free.is_empty() && self.random.percent(95);
        let all: Vec<&Table> = if apart { free } else { self.schema.tables.iter().collect() };
        let table = (*self.random.pick(&all).expect("there are tables")).clone();
        self.taken.push(table.name.clone());
        table
    }

    /// Another one, for a sub-select.
    pub fn other(&mut self, than: &Table) -> String {
        let others: Vec<&String> =
            self.schema.tables.iter().map(|table| &table.name).filter(|name| **name != than.name).collect();
        (*self.random.pick(&others).expect("there are two tables")).clone()
    }

    /// An index by weights of each style.
    pub fn shape(&mut self, wild: &[u64], keyed: &[u64], own: &[u64]) -> usize {
        self.random.weighed(match self.taste.style {
            Style::Wild => wild,
            Style::Keyed | Style::Apart => keyed,
            Style::Own => own,
        })
    }

    /// The table's name, sometimes as SQL lets one write it, too.
    pub fn named(&mut self, table: &Table) -> String {
        let name = &table.name;
        match (self.dialect(), self.random.below(12)) {
            (_, 0) => format!("`{name}`"),
            (Dialect::Sqlite, 1) => name.to_uppercase(),
            (Dialect::Sqlite, 2) => format!("main.{name}"),
            _ => name.clone(),
        }
    }

    /// A column of an earlier look-up.
    pub fn looked(&mut self, of: Of) -> Option<String> {
        let all = self.looks.iter().flat_map(|look| {
            let columns = look.columns.iter().filter(|(_, is)| *is == of);
            columns.map(|(column, _)| format!(":{}.{column}", look.name))
        });
        let all: Vec<String> = all.collect();
        self.random.pick(&all).cloned()
    }

    pub fn key(&mut self) -> String {
        if self.tombstone {
            return ":_key".to_owned();
        }
        let keyed = self.taste.tidy || (self.taste.style == Style::Keyed && !self.random.percent(4));
        if keyed || self.taste.style == Style::Own {
            return self.taste.key.to_owned();
        }
        match self.random.weighed(&[55, 22, 6, 10, if self.rows { 60 } else { 0 }]) {
            0 => ":k".to_owned(),
            1 => ":o".to_owned(),
            2 => ":_key".to_owned(),
            3 => self.looked(Of::Key).unwrap_or_else(|| ":k".to_owned()),
            _ => ":ls.a".to_owned(),
        }
    }

    /// For columns that take no NULL, unless refusals are wanted.
    pub fn key_that_is(&mut self) -> String {
        let key = self.key();
        if self.taste.rough || !key.contains('.') || key.starts_with(":ls") { key } else { ":k".to_owned() }
    }

    pub fn int(&mut self) -> String {
        if self.tombstone {
            return "3".to_owned();
        }
        match self.random.weighed(&[
            50,
            8,
            if self.taste.rough { 20 } else { 0 },
            if self.rows { 40 } else { 0 },
        ]) {
            0 => ":n".to_owned(),
            1 => "7".to_owned(),
            2 => self.looked(Of::Int).unwrap_or_else(|| ":n".to_owned()),
            _ => random_row(self.random),
        }
    }

    /// NULL where the column takes it.
    pub fn text(&mut self) -> String {
        if self.tombstone {
            return "'gone'".to_owned();
        }
        match self.random.weighed(&[60, 25, 8]) {
            0 => ":s".to_owned(),
            1 => self.looked(Of::Text).unwrap_or_else(|| ":s".to_owned()),
            _ => "'fixed'".to_owned(),
        }
    }

    pub fn decimal(&mut self) -> String {
        if self.tombstone {
            return "NULL".to_owned();
        }
        match self.random.weighed(&[60, 25, 15]) {
            0 => ":d".to_owned(),
            1 => self.looked(Of::Decimal).unwrap_or_else(|| ":d".to_owned()),
            _ => "NULL".to_owned(),
        }
    }

    /// For the second key.
    pub fn second(&mut self) -> String {
        if self.tombstone {
            return "NULL".to_owned();
        }
        match self.random.weighed(&[60, 20, 20]) {
            0 => ":u".to_owned(),
            1 => ":s".to_owned(),
            _ => "NULL".to_owned(),
        }
    }

    /// When the step is run, if not always.
    pub fn when(&mut self) -> Option<String> {
        if self.tombstone || !self.random.percent(22) {
            return None;
        }
        let of_int = self.looked(Of::Int);
        let of_text = self.looked(Of::Text);
        Some(match (self.random.below(6), of_int, of_text) {
            (0, _, _) => ":s = 'x'".to_owned(),
            (1 | 2, Some(column), _) => format!("{column} is not null"),
            (3, Some(column), _) => format!("{column} > 2"),
            (4, _, Some(column)) => format!("{column} = 'x' or {column} is null"),
            (5, Some(column), _) => format!("not {column} = :n"),
            _ => ":n >= 4".to_owned(),
        })
    }
}

fn random_row(random: &mut Random) -> String {
    random.one(&[":ls.b", ":ls.b", ":ls._index"]).to_owned()
}
