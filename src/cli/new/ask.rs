//! Asking a database for its tables, and its URL without the password.
//!
//! In:        a URL as `database.url` has it     Out: tables and columns, the engine, and the URL for the job file
//! Fails:     a URL that is none (64), and what the server says, as `check` has it
//! Not here:  which table is which (`columns`)

use super::tables::Dialect;
use crate::cli::check::{DEADLINE, OUTAGE, code};
use crate::cli::exit;
use crate::cli::verify::Failure;
use crate::database::{self, Table};
use crate::job::{self, DatabaseKind, DatabaseSpec};
use std::path::Path;

/// What a database was asked.
pub(super) struct Answer {
    pub(super) url: String,
    pub(super) dialect: Dialect,
    pub(super) tables: Vec<Table>,
}

/// The variable that stands in a job file in place of a password. Without a value it is empty, so that the file is right
/// wherever it is checked.
const PASSWORD: &str = "${DB_PASSWORD:}";

/// Asks.
pub(super) fn ask(url: &str) -> Result<Answer, Failure> {
    let spec = read(url)?;
    let fail = |text: String, code| Failure { text: format!("--database: {text}"), code };
    if let DatabaseKind::Sqlite { path } = &spec.kind
        && !Path::new(path).exists()
    {
        // Opening it would make an empty one.
        return Err(fail(format!("the file {path} does not exist"), exit::USAGE));
    }
    let database = database::open(&spec, "new").map_err(|error| fail(error.to_string(), code(&error)))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| fail(format!("cannot start the tokio runtime: {error}"), exit::INTERNAL))?;
    // A time-out is made where the clock is: inside.
    let asked = runtime.block_on(async {
        let question = async {
            let mut session = database.connect().await?;
            session.tables().await
        };
        tokio::time::timeout(DEADLINE, question).await
    });
    let tables = match asked {
        Ok(tables) => tables.map_err(|error| fail(error.to_string(), code(&error)))?,
        Err(_elapsed) => return Err(fail(format!("no answer for {} s", DEADLINE.as_secs()), OUTAGE)),
    };
    let dialect = match &spec.kind {
        DatabaseKind::MySql { .. } => Dialect::MySql,
        DatabaseKind::Sqlite { .. } => Dialect::Sqlite,
    };
    Ok(Answer { url: without_password(url, &spec.kind), dialect, tables })
}

/// The URL by the very rules of a job file.
fn read(url: &str) -> Result<DatabaseSpec, Failure> {
    const VARIABLE: &str = "TIDEGATE_DATABASE_OF_NEW";
    // What the user typed may have variables of its own; else a password in it is no secret in a file.
    let value =
        if url.contains("${") { toml::Value::from(url).to_string() } else { format!("\"${{{VARIABLE}}}\"") };
    let text = format!(
        "job.name = \"new\"\nsource = {{ bootstrap_servers = \"new:1\", topics = [\"new\"] }}\nevent.fields = {{}}\n\
         output.topic = \"new.out\"\ndatabase.url = {value}\n"
    );
    let environment =
        |name: &str| if name == VARIABLE { Some(url.to_owned()) } else { std::env::var(name).ok() };
    let checked = job::check("--database", &text, &environment);
    checked.map(|checked| checked.spec.database).map_err(|errors| {
        let said: Vec<String> = errors
            .0
            .iter()
            .map(|error| {
                let hint = error.hint.as_ref().map_or(String::new(), |hint| format!(": {hint}"));
                format!("--database: {}{hint}", error.message)
            })
            .collect();
        Failure { text: said.join("\n"), code: exit::USAGE }
    })
}

fn without_password(url: &str, kind: &DatabaseKind) -> String {
    let DatabaseKind::MySql { host, port, user, password: Some(password), database, .. } = kind else {
        return url.to_owned();
    };
    // The user's own variables stay.
    if url.contains("${") {
        return url.to_owned();
    }
    let swapped = url.split_once("://").and_then(|(scheme, rest)| {
        let (account, host) = rest.split_at_checked(rest.get(..rest.find('/')?)?.rfind('@')?)?;
        let (user, _password) = account.split_once(':')?;
        Some(format!("{scheme}://{user}:{PASSWORD}{host}"))
    });
    match swapped {
        Some(swapped) if !swapped.contains(&password.0) => swapped,
        // A password that is the user's name, say: made anew, it stands in none of the parts by way of the URL.
        _ => format!("mysql://{user}:{PASSWORD}@{host}:{port}/{database}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(url: &str) -> String {
        without_password(url, &read(url).unwrap_or_else(|failure| panic!("{}", failure.text)).kind)
    }

    #[test]
    fn a_password_is_never_written() {
        assert_eq!(written("mysql://app:s3cret%40@db:3307/shop"), "mysql://app:${DB_PASSWORD:}@db:3307/shop");
        assert_eq!(written("mariadb://app@db/shop"), "mariadb://app@db/shop");
        assert_eq!(
            written("mysql://a:${TIDEGATE_NO_SUCH:x}@db/shop"),
            "mysql://a:${TIDEGATE_NO_SUCH:x}@db/shop"
        );
        assert_eq!(written("sqlite:shop.db"), "sqlite:shop.db");
        assert_eq!(written("mysql://app:app@db/shop"), "mysql://app:${DB_PASSWORD:}@db:3306/shop");
    }

    #[test]
    fn what_is_no_url_is_said_without_it() {
        let text = read("postgres://app:s3cret@db/x").err().unwrap().text;
        assert!(
            text.starts_with("--database: ") && text.contains("mysql://") && !text.contains("s3cret"),
            "{text}"
        );
    }
}
