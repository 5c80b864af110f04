//! The table of MySQL's and MariaDB's error codes: what each asks for, in one sentence for a person.
//!
//! In:        a server's error code
//! Out:       [`Known`]: class, what becomes of the session, how much of the server's text may be shown
//! Order:     by class; a code stands in one row alone
//! Fails:     never: a code that stands nowhere is [`ErrorClass::Unknown`], which holds and alarms
//! Not here:  errors that are no server's (`error.rs`)

use crate::database::ErrorClass::{self, Contention, Misconfigured, Outage, Reject, Rights};

/// What is known of a code.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) codes: &'static [u16],
    pub(super) class: ErrorClass,
    pub(super) after: After,
    pub(super) shows: Shows,
    pub(super) sentence: &'static str,
}

/// What the error leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Session and transaction go on.
    Open,
    /// The server has rolled the transaction back.
    RolledBack,
    /// The session is of no use any more.
    Lost,
}

/// How much of the server's text can be shown: values of events must not reach logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// The text holds names only.
    All,
    /// The column that it names at its end.
    Column,
    /// The key that it names at its end.
    Key,
    /// Nothing: it is made of values.
    Nothing,
}

/// The row of a code.
pub(super) fn known(code: u16) -> Option<&'static Known> {
    TABLE.iter().find(|row| row.codes.contains(&code))
}

/// Class and sentence of a code.
pub(in crate::database) fn explain(code: i64) -> Option<(ErrorClass, &'static str)> {
    let row = known(u16::try_from(code).ok()?)?;
    Some((row.class, row.sentence))
}

macro_rules! table {
    ($($class:ident $after:ident $shows:ident [$($code:literal),+] $sentence:literal;)+) => {
        &[$(Known { codes: &[$($code),+], class: $class, after: After::$after, shows: Shows::$shows, sentence: $sentence }),+]
    };
}

pub(super) const TABLE: &[Known] = table! {
    // The server is there, and takes no work now.
    Outage Lost All [1040] "the server has no connection left (max_connections)";
    Outage Lost All [1203, 1226] "the account has reached a limit of connections or statements";
    Outage Lost All [1129] "the server blocks this host after failed connections (FLUSH HOSTS lifts it)";
    Outage Open All [1461] "the server holds as many prepared statements as it may (max_prepared_stmt_count)";
    Outage Lost All [1053, 1077, 1078, 1079, 1080] "the server is shutting down";
    Outage Lost All [1043, 1152, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1184, 1927, 3169, 4031] "the server ended this connection";
    Outage Lost All [1047, 3168] "the server (or this node of the cluster) is not ready for work";
    Outage Lost All [1243] "the server has lost the session's prepared statements";
    Outage Open All [1317, 1969, 3024] "the statement was interrupted, or ran longer than the server allows";
    Outage Lost All [1290, 1792, 1836, 1874] "the server is read-only, as after a failover";
    Outage Lost All [1036] "the table is read-only";
    Outage Open All [1223] "a global read lock holds writes back";
    Outage Open All [1021, 1114] "a disk, a tablespace or a table is full";
    Outage Open Nothing [3, 1026] "the server could not write a file (a full disk, mostly)";
    Outage Open Nothing [1015, 1016, 1017, 1023, 1024, 1028, 1030, 1034, 1194, 1195] "the storage engine failed or a table is damaged";
    Outage Open All [1037, 1038, 1041, 1135, 1637] "the server is out of memory, threads or transaction slots";
    Outage Lost All [1180, 1181, 3100] "the server failed in the middle of a COMMIT or ROLLBACK";

    // Somebody else was in the way.
    Contention Open All [1205] "another transaction held a lock for longer than innodb_lock_wait_timeout";
    Contention RolledBack All [1213, 1614, 3101] "the server rolled this transaction back to resolve a deadlock or a conflict in the cluster";
    Contention Open Nothing [1020] "a row was changed by somebody else since it was read";
    Contention Open All [1412, 1615] "a table was changed while the transaction ran";
    Contention Open All [1206] "the transaction took more locks than the server has room for";
    Contention Open All [1689, 3572] "a lock was not free at once";

    // This can never be stored as it is.
    Reject Open All [1048] "a column that must not be NULL got NULL";
    Reject Open All [1364] "a column without a default value got no value";
    Reject Open Key [1022, 1062, 1169, 1586, 1859] "a row with this key exists";
    Reject Open Nothing [1557, 1761, 1762] "a foreign key would make a row with this key twice";
    Reject Open All [1216, 1452] "the row refers to a row of another table that does not exist";
    Reject Open All [1217, 1451] "another table's row still refers to this row";
    Reject Open Column [1406] "the value is longer than its column";
    Reject Open Column [1264] "the number is out of its column's range";
    Reject Open Nothing [1690] "a calculation left the range of its type";
    Reject Open Column [1265] "the value does not fit its column without being cut";
    Reject Open Column [1292, 1366, 1367, 1411, 1525] "the value is not of its column's type, or not in its character set";
    Reject Open Nothing [1300] "the text is not valid in its character set";
    Reject Open Nothing [1365] "a division by zero";
    Reject Open Nothing [1441] "a calculation left the range of dates";
    Reject Open All [3819, 4025] "a CHECK constraint of the table refuses the row";
    Reject Open All [1369] "a view's CHECK OPTION refuses the row";
    Reject Open Nothing [1644, 1643, 1645] "a trigger or a procedure refuses the row (SIGNAL)";
    Reject Open Nothing [1526, 1748, 1863] "no partition of the table takes the row";
    Reject Open Nothing [3140, 3141, 3156, 3157, 4037] "the text is not valid JSON, or nested too deeply";
    Reject Open Nothing [1416, 3037] "the value is not a valid geometry";
    Reject Open Nothing [1139, 3685] "the text is not a valid regular expression";
    Reject Open All [1172, 1242] "a subquery gave more than one row";
    Reject Open All [1118, 3854] "the row is larger than the storage engine allows";
    Reject Lost All [1153] "the row is larger than the server takes (max_allowed_packet)";
    Reject Open All [1162, 1301] "a value is larger than the server takes (max_allowed_packet)";

    // The job and the schema do not fit.
    Misconfigured Open All [1064, 1065, 1149] "the SQL is not understood";
    Misconfigured Open All [1046, 1049] "the schema does not exist";
    Misconfigured Open All [1051, 1109, 1146, 1932, 1347, 1356] "a table or view does not exist, or a view is not valid any more";
    Misconfigured Open All [1052, 1054, 1060, 1110, 1166] "a column does not exist, is ambiguous, or is named twice";
    Misconfigured Open All [1136, 1058, 1222, 1241] "the number of columns does not fit";
    Misconfigured Open All [1305, 1318, 1582, 1583, 1584, 1630, 1128] "a function or procedure does not exist, or takes other arguments";
    Misconfigured Open All [1055, 1056, 1111, 1140] "grouping and aggregates do not fit";
    Misconfigured Open All [1066, 1093, 1096, 1248, 1442] "a table is used in a way that SQL does not allow here";
    Misconfigured Open All [1005, 1050, 1071, 1072, 1176] "a table, an index or a key column cannot be made or used so";
    Misconfigured Open All [1115, 1253, 1267, 1270, 1271, 1273] "character sets or collations do not fit";
    Misconfigured Open All [1193, 1231, 1298] "a server variable or time zone does not exist";
    Misconfigured Open All [1235, 1286, 1295, 1210] "the server does not support this statement in this form";
    Misconfigured Open All [1288, 1348, 1393, 1394, 1395, 1423, 1471] "the view or derived table cannot be written to";
    Misconfigured Open All [1390, 1104] "the statement has too many parameters, or would read too much";
    Misconfigured Open All [1467, 4084] "an AUTO_INCREMENT or a sequence has run out";
    Misconfigured Open All [1906, 3105] "a generated column was given a value";
    Misconfigured Open All [1449] "the definer of a view, trigger or procedure does not exist";
    Misconfigured Open All [1099, 1100] "the table was not locked for this";
    Misconfigured Lost All [1251, 1275, 1524] "the account logs in by a method that is not supported here";

    // Rights are missing.
    Rights Lost All [1044, 1045, 1130, 1131, 1132, 1698, 3118, 4151] "the account may not log in from here, or may not use the schema";
    Rights Lost All [1820, 1862] "the account's password has expired";
    Rights Open All [1095, 1142, 1143, 1227, 1370, 1410, 1419] "the account lacks a right";
};
