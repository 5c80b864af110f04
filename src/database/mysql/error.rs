//! The driver's errors, classified, with every value cut out.
//!
//! In:        what was being done, and the driver's error
//! Out:       [`DatabaseError`]
//! Fails:     never; what nobody knows is [`ErrorClass::Unknown`]
//! Not here:  the table of codes (`classes.rs`)

use super::classes::{After, Shows, known};
use crate::database::{DatabaseError, ErrorClass};
use mysql_async::{DriverError, Error, IoError, ServerError};

/// Classifies an error.
pub(super) fn classify(doing: &str, error: Error) -> DatabaseError {
    match error {
        Error::Server(error) => server(doing, &error),
        Error::Io(error) => io(doing, &error),
        Error::Driver(error) => driver(doing, &error),
        // Neither says what it is in a way that is known to be free of values.
        Error::Url(_) => {
            DatabaseError::new(ErrorClass::Misconfigured, format!("{doing}: the URL is refused"))
        }
        Error::Other(_) => {
            DatabaseError::new(ErrorClass::Unknown, format!("{doing}: the driver failed")).session_lost()
        }
    }
}

fn server(doing: &str, error: &ServerError) -> DatabaseError {
    let known = known(error.code);
    let class = known.map_or(ErrorClass::Unknown, |row| row.class);
    let sentence = known.map_or("the server answered with an error that is in no table", |row| row.sentence);
    let shown = match known.map(|row| row.shows) {
        Some(Shows::All) => Some(error.message.clone()),
        Some(Shows::Column) => column(&error.message),
        Some(Shows::Key) => error.message.rsplit_once("for key ").map(|(_, name)| format!("key {name}")),
        Some(Shows::Nothing) => None,
        None => Some(without_quoted(&error.message)),
    };
    let shown = shown.map_or(String::new(), |text| format!(": {text}"));
    let message = format!("{doing}: {sentence}{shown} (server error {}, state {})", error.code, error.state);
    let after = known.map_or(After::Open, |row| row.after);
    DatabaseError {
        class,
        code: Some(i64::from(error.code)),
        message,
        broken: after == After::Lost,
        rolled_back: after == After::RolledBack,
        row: None,
    }
}

fn io(doing: &str, error: &IoError) -> DatabaseError {
    if is_too_large(error) {
        let sentence = "the statement is larger than the server takes (max_allowed_packet)";
        return DatabaseError::new(ErrorClass::Reject, format!("{doing}: {sentence}")).session_lost();
    }
    // An I/O error's text is the operating system's, or the driver's about packets: no values.
    let message = format!("{doing}: the connection failed: {}", io_text(error));
    DatabaseError::new(ErrorClass::Outage, message).session_lost()
}

fn io_text(error: &IoError) -> String {
    match error {
        IoError::Io(error) => error.to_string(),
        #[cfg(feature = "tls")]
        IoError::Tls(error) => error.to_string(),
    }
}

/// The driver refuses a packet over the server's limit before it sends it, and says so in text only.
fn is_too_large(error: &IoError) -> bool {
    io_text(error).contains("larger than max_allowed_packet")
}

fn driver(doing: &str, error: &DriverError) -> DatabaseError {
    let (class, sentence) = match error {
        DriverError::ConnectionClosed | DriverError::PoolDisconnected => {
            (ErrorClass::Outage, "the connection is closed")
        }
        DriverError::PacketTooLarge | DriverError::BulkExecute(_) => {
            (ErrorClass::Reject, "the row is larger than the server takes (max_allowed_packet)")
        }
        DriverError::StmtParamsMismatch { .. } | DriverError::Params(_) | DriverError::MixedParams => {
            (ErrorClass::Misconfigured, "the statement's parameters and its `?` do not fit")
        }
        DriverError::StmtParamsNumberExceedsLimit { .. } => {
            (ErrorClass::Misconfigured, "the statement has more than 65535 parameters")
        }
        DriverError::UnknownAuthPlugin { .. }
        | DriverError::MysqlOldPasswordDisabled
        | DriverError::CleartextPluginDisabled => {
            (ErrorClass::Misconfigured, "the account logs in by a method that is not supported here")
        }
        DriverError::NoClientSslFlagFromServer | DriverError::NoKeyFound => {
            (ErrorClass::Misconfigured, "TLS was asked for and the server or the key does not offer it")
        }
        DriverError::LocalInfile(_) => {
            (ErrorClass::Misconfigured, "the statement wants to read a local file, which is refused")
        }
        _ => (ErrorClass::Unknown, "the driver did not understand the server"),
    };
    DatabaseError::new(class, format!("{doing}: {sentence}")).session_lost()
}

/// The column of a text that ends with `for column NAME at row N`. Values stand before that, so that nothing in a
/// value can pass for the name.
fn column(message: &str) -> Option<String> {
    let (message, row) = message.rsplit_once(" at row ")?;
    let (_, name) = message.rsplit_once("for column ")?;
    row.bytes().all(|b| b.is_ascii_digit()).then(|| format!("column {name}"))
}

/// The text without everything between its first and its last quote.
fn without_quoted(message: &str) -> String {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    match (message.split_once(is_quote), message.rsplit_once(is_quote)) {
        (Some((before, _)), Some((_, after))) => format!("{before}...{after}"),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::mysql::classes::TABLE;
    use std::collections::BTreeSet;

    fn of(code: u16, message: &str) -> DatabaseError {
        let state = "22001".to_owned();
        classify("step 1", Error::Server(ServerError { code, message: message.to_owned(), state }))
    }

    #[test]
    fn no_value_reaches_the_message() {
        let long = of(1406, "Data too long for column 'note' at row 3");
        assert!(long.message.contains("column 'note' (server error 1406"), "{}", long.message);
        let sly =
            of(1366, "Incorrect decimal value: 'SECRET' for column 'SECRET' for column `s`.`t`.`c` at row 1");
        assert!(
            sly.message.contains("column `s`.`t`.`c`") && !sly.message.contains("SECRET"),
            "{}",
            sly.message
        );
        let twice = of(1062, "Duplicate entry 'SECRET' for key 'PRIMARY'");
        assert!(
            twice.message.contains("key 'PRIMARY'") && !twice.message.contains("SECRET"),
            "{}",
            twice.message
        );
        let cast = of(1292, "Truncated incorrect DOUBLE value: 'SECRET'");
        assert!(!cast.message.contains("SECRET"), "{}", cast.message);
        let sly = of(1292, "Truncated incorrect DOUBLE value: 'x for column SECRET at row 1'");
        assert!(!sly.message.contains("SECRET"), "{}", sly.message);
        let unknown = of(9999, "Bad thing 'SEC' and 'RET' in it");
        assert_eq!(unknown.class, ErrorClass::Unknown);
        assert!(unknown.message.contains("Bad thing ... in it"), "{}", unknown.message);
    }

    #[test]
    fn a_code_stands_in_one_row_alone() {
        let mut seen = BTreeSet::new();
        for code in TABLE.iter().flat_map(|row| row.codes) {
            assert!(seen.insert(code.number), "{code:?} stands twice");
        }
    }
}
