//! Functions: which of them depend on nothing but their arguments.
//!
//! In:        a function's name, and the engine's dialect     Out: that it is one of these; or why it is none
//! Fails:     what is not listed is none: a function that the schema defines may do anything
//! Not here:  what stands between its brackets (expressions)

use crate::job::sql::Dialect;

/// Of both engines.
const BOTH: &[&str] = &[
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "floor",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "instr",
    "json_array",
    "json_extract",
    "json_object",
    "json_quote",
    "json_valid",
    "length",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nullif",
    "octet_length",
    "pow",
    "power",
    "replace",
    "round",
    "rtrim",
    "sign",
    "sqrt",
    "substr",
    "substring",
    "sum",
    "trim",
    "upper",
];

/// Of MariaDB and MySQL.
const MYSQL: &[&str] = &[
    "ascii",
    "bin",
    "bit_length",
    "cast",
    "char_length",
    "character_length",
    "conv",
    "convert",
    "convert_tz",
    "crc32",
    "date",
    "date_add",
    "date_format",
    "date_sub",
    "datediff",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "elt",
    "exp",
    "field",
    "find_in_set",
    "format",
    "from_base64",
    "from_days",
    "from_unixtime",
    "greatest",
    "hour",
    "inet6_aton",
    "inet6_ntoa",
    "inet_aton",
    "inet_ntoa",
    "insert",
    "isnull",
    "json_contains",
    "json_length",
    "json_unquote",
    "json_value",
    "last_day",
    "lcase",
    "least",
    "left",
    "ln",
    "locate",
    "log",
    "log10",
    "log2",
    "lpad",
    "makedate",
    "maketime",
    "md5",
    "microsecond",
    "mid",
    "minute",
    "month",
    "monthname",
    "oct",
    "ord",
    "quarter",
    "quote",
    "regexp_instr",
    "regexp_replace",
    "regexp_substr",
    "repeat",
    "reverse",
    "right",
    "rpad",
    "sec_to_time",
    "second",
    "sha",
    "sha1",
    "sha2",
    "space",
    "str_to_date",
    "strcmp",
    "substring_index",
    "time",
    "time_format",
    "time_to_sec",
    "timediff",
    "timestampadd",
    "timestampdiff",
    "to_base64",
    "to_days",
    "to_seconds",
    "truncate",
    "ucase",
    "unhex",
    "unix_timestamp",
    "values",
    "value",
    "week",
    "weekday",
    "weekofyear",
    "year",
    "yearweek",
];

/// Of SQLite.
const SQLITE: &[&str] = &[
    "char",
    "date",
    "datetime",
    "format",
    "glob",
    "iif",
    "json",
    "json_array_length",
    "json_insert",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "julianday",
    "likely",
    "printf",
    "strftime",
    "time",
    "total",
    "typeof",
    "unhex",
    "unicode",
    "unixepoch",
    "unlikely",
];

/// They tell the time, in one or the other spelling; some are written without brackets.
const CLOCKS: &[&str] = &[
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "curtime",
    "localtime",
    "localtimestamp",
    "now",
    "sysdate",
    "utc_date",
    "utc_time",
    "utc_timestamp",
];

/// They depend on what ran before on the connection, or change something.
const STATES: &[&str] = &[
    "benchmark",
    "changes",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "last_insert_rowid",
    "lastval",
    "nextval",
    "release_all_locks",
    "release_lock",
    "row_count",
    "setval",
    "sleep",
    "total_changes",
];

/// They give another value each time.
const DICE: &[&str] =
    &["rand", "random", "random_bytes", "randomblob", "sys_guid", "uuid", "uuid_short", "uuid_v4", "uuid_v7"];

/// Written without brackets they are who asks, not a column.
const ASKERS: &[&str] = &["current_role", "current_user", "session_user", "system_user", "user"];

/// `None`: it depends on nothing but its arguments. Else why nobody can say so.
pub(super) fn against(name: &str, arguments: usize, dialect: Dialect) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let listed = |list: &[&str]| list.contains(&name.as_str());
    let shown = name.to_ascii_uppercase();
    // Without a moment, the moment is now.
    let moment_at = match (dialect, name.as_str()) {
        (Dialect::MySql, "unix_timestamp") => 1,
        (Dialect::Sqlite, "date" | "time" | "datetime" | "julianday" | "unixepoch") => 1,
        (Dialect::Sqlite, "strftime") => 2,
        _ => 0,
    };
    if listed(CLOCKS) || arguments < moment_at {
        return Some(clock(&shown));
    }
    if listed(STATES) {
        return Some(format!("{shown}() depends on what ran before, or changes it"));
    }
    if listed(DICE) {
        return Some(format!("{shown}() gives another value each time"));
    }
    let own = match dialect {
        Dialect::MySql => MYSQL,
        Dialect::Sqlite => SQLITE,
    };
    if listed(BOTH) || listed(own) {
        return None;
    }
    Some(format!("`{name}` is not known to depend on nothing but its arguments"))
}

/// Why a word that looks like a column is none: a function that is written without brackets.
pub(super) fn word_against(word: &str, dialect: Dialect) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let is_sqlites = matches!(word.as_str(), "current_date" | "current_time" | "current_timestamp");
    if CLOCKS.contains(&word.as_str())
        && !matches!(word.as_str(), "now" | "curdate" | "curtime")
        && (dialect == Dialect::MySql || is_sqlites)
    {
        return Some(clock(&word.to_ascii_uppercase()));
    }
    let asks = ASKERS.contains(&word.as_str()) && word != "user";
    (asks && dialect == Dialect::MySql)
        .then(|| format!("{} depends on the connection", word.to_ascii_uppercase()))
}

/// The function takes a moment, which may be the word for now.
pub(super) fn takes_a_moment(name: &str, dialect: Dialect) -> bool {
    let names = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"];
    dialect == Dialect::Sqlite && names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Why a clock does not do.
pub(super) fn clock(shown: &str) -> String {
    format!("{shown} is another moment each time: bind :_now, which is one for the whole transaction")
}
