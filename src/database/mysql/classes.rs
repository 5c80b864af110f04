//! The table of MySQL's and MariaDB's error codes, and of the proxies that speak for them: what each asks for, in one
//! sentence for a person, and what that person does.
//!
//! In:        a server's error code
//! Out:       [`Known`]: class, what becomes of the session, how much of the server's text may be shown
//! Order:     by class; a code stands in one row alone
//! Fails:     never: a code that stands nowhere is [`ErrorClass::Unknown`], which holds and alarms
//! Not here:  errors that are no server's (`error.rs`)

use crate::database::ErrorClass::{self, Contention, Misconfigured, Outage, Reject, Rights};
use crate::database::KnownCode;

/// What is known of some codes.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) codes: &'static [Code],
    pub(super) class: ErrorClass,
    pub(super) after: After,
    pub(super) shows: Shows,
    pub(super) sentence: &'static str,
    /// What a person does about it.
    advice: &'static str,
}

/// A code.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) number: u16,
    pub(super) name: &'static str,
    /// A test provokes it on a real server.
    pub(super) seen: bool,
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
    TABLE.iter().find(|row| row.codes.iter().any(|of| of.number == code))
}

/// The whole table, code by code.
pub(in crate::database) fn codes() -> Vec<KnownCode> {
    let of_row = |row: &'static Known| {
        row.codes.iter().map(move |code| KnownCode {
            number: i64::from(code.number),
            name: code.name,
            class: row.class,
            sentence: row.sentence,
            advice: row.advice,
            seen: code.seen,
        })
    };
    TABLE.iter().flat_map(of_row).collect()
}

/// `Class After Shows [NUMBER NAME seen, ...] "sentence" => "advice";`, `seen` where a test provokes the code.
macro_rules! table {
    ($($class:ident $after:ident $shows:ident [$($code:literal $name:ident $($seen:ident)?),+] $sentence:literal => $advice:literal;)+) => {
        &[$(Known {
            codes: &[$(Code { number: $code, name: stringify!($name), seen: !stringify!($($seen)?).is_empty() }),+],
            class: $class,
            after: After::$after,
            shows: Shows::$shows,
            sentence: $sentence,
            advice: $advice,
        }),+]
    };
}

pub(super) const TABLE: &[Known] = table! {
    // The server is there, and takes no work now.
    Outage Lost All [1040 ER_CON_COUNT_ERROR seen]
        "the server has no connection left (max_connections)"
        => "find who keeps so many connections, or raise max_connections";
    Outage Lost All [1203 ER_TOO_MANY_USER_CONNECTIONS, 1226 ER_USER_LIMIT_REACHED seen]
        "the account has reached a limit of connections or statements"
        => "raise the account's limit (max_user_connections, MAX_QUERIES_PER_HOUR ...), or lower database.connections";
    Outage Lost All [1129 ER_HOST_IS_BLOCKED]
        "the server blocks this host after failed connections"
        => "FLUSH HOSTS, once it is known who failed to connect; raise max_connect_errors";
    Outage Open All [1461 ER_MAX_PREPARED_STMT_COUNT_REACHED seen]
        "the server holds as many prepared statements as it may (max_prepared_stmt_count)"
        => "raise max_prepared_stmt_count: a connection keeps some 60";
    Outage Lost All [
        1053 ER_SERVER_SHUTDOWN, 1077 ER_NORMAL_SHUTDOWN, 1078 ER_GOT_SIGNAL, 1079 ER_SHUTDOWN_COMPLETE,
        1080 ER_FORCING_CLOSE
    ]
        "the server is shutting down"
        => "bring it back";
    Outage Lost All [
        1042 ER_BAD_HOST_ERROR, 1043 ER_HANDSHAKE_ERROR, 1152 ER_ABORTING_CONNECTION, 1155 ER_NET_FCNTL_ERROR,
        1156 ER_NET_PACKETS_OUT_OF_ORDER, 1157 ER_NET_UNCOMPRESS_ERROR, 1158 ER_NET_READ_ERROR,
        1159 ER_NET_READ_INTERRUPTED, 1160 ER_NET_ERROR_ON_WRITE, 1161 ER_NET_WRITE_INTERRUPTED,
        1184 ER_NEW_ABORTING_CONNECTION, 1835 ER_MALFORMED_PACKET, 1927 ER_CONNECTION_KILLED,
        3169 ER_SESSION_WAS_KILLED, 4031 ER_CLIENT_INTERACTION_TIMEOUT
    ]
        "the server, or a proxy before it, ended this connection"
        => "nothing, unless it comes again and again: then look who kills connections, and at the server's time-outs";
    Outage Lost All [
        2002 CR_CONNECTION_ERROR, 2003 CR_CONN_HOST_ERROR, 2006 CR_SERVER_GONE_ERROR, 2013 CR_SERVER_LOST,
        2026 CR_SSL_CONNECTION_ERROR, 2027 CR_MALFORMED_PACKET, 2055 CR_SERVER_LOST_EXTENDED
    ]
        "a proxy lost its server, or cannot reach one"
        => "bring the server behind the proxy back";
    Outage Lost All [
        9001 PROXYSQL_MAX_CONNECT_TIMEOUT, 9002 PROXYSQL_MAX_CONNECT_FAILURES, 9004 PROXYSQL_BACKEND_OFFLINE
    ]
        "ProxySQL has no server to send this to"
        => "bring a server of the hostgroup back, or see runtime_mysql_servers on the proxy";
    Outage Lost All [1047 ER_UNKNOWN_COM_ERROR, 3032 ER_SERVER_OFFLINE_MODE, 3168 ER_SERVER_ISNT_AVAILABLE]
        "the server (or this node of the cluster) is not ready for work"
        => "wait for the node to join; a Galera cluster without a majority needs a person (wsrep_cluster_status)";
    Outage Open All [
        3796 ER_GRP_TRX_CONSISTENCY_NOT_ALLOWED, 3797 ER_GRP_TRX_CONSISTENCY_BEFORE,
        3798 ER_GRP_TRX_CONSISTENCY_AFTER_ON_TRX_BEGIN
    ]
        "the group of servers cannot give the consistency that is asked for now"
        => "see replication_group_members: members are recovering or gone";
    Outage Lost All [1243 ER_UNKNOWN_STMT_HANDLER]
        "the server has lost the session's prepared statements"
        => "nothing: the next connection prepares them again";
    Outage Open All [1317 ER_QUERY_INTERRUPTED seen, 1969 ER_STATEMENT_TIMEOUT seen, 3024 ER_QUERY_TIMEOUT]
        "the statement was interrupted, or ran longer than the server allows"
        => "nothing, unless it comes again and again: then the statement is too slow (an index?) or somebody kills it";
    Outage Lost All [
        1290 ER_OPTION_PREVENTS_STATEMENT seen, 1792 ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION seen,
        1836 ER_READ_ONLY_MODE, 1874 ER_INNODB_READ_ONLY, 3989 ER_SCHEMA_READ_ONLY
    ]
        "the server, or the schema, is read-only, as after a failover"
        => "let the address lead to the writable server, or end read-only";
    Outage Lost All [1036 ER_OPEN_AS_READONLY]
        "the table is read-only"
        => "make it writable: file rights, engine, or read-only of the server";
    Outage Open All [1223 ER_CANT_UPDATE_WITH_READLOCK]
        "a global read lock holds writes back"
        => "end the backup, or whoever else holds FLUSH TABLES WITH READ LOCK";
    Outage Open All [
        1021 ER_DISK_FULL, 1114 ER_RECORD_FILE_FULL seen, 3019 ER_INNODB_UNDO_LOG_FULL, 3675 ER_DISK_FULL_NOWAIT
    ]
        "a disk, a tablespace, the undo log or a table is full"
        => "make room: the job goes on by itself";
    Outage Open Nothing [1 EE_CANTCREATEFILE, 2 EE_READ, 3 EE_WRITE, 20 EE_DISK_FULL, 1026 ER_ERROR_ON_WRITE]
        "the server could not write or read a file (a full disk, mostly)"
        => "make room, or repair the disk, also where the server keeps its temporary files";
    Outage Open Nothing [
        29 EE_FILENOTFOUND, 1015 ER_CANT_LOCK, 1016 ER_CANT_OPEN_FILE, 1017 ER_FILE_NOT_FOUND,
        1023 ER_ERROR_ON_CLOSE, 1024 ER_ERROR_ON_READ, 1028 ER_FILSORT_ABORT, 1030 ER_GET_ERRNO,
        1032 ER_KEY_NOT_FOUND, 1033 ER_NOT_FORM_FILE, 1034 ER_NOT_KEYFILE, 1035 ER_OLD_KEYFILE,
        1194 ER_CRASHED_ON_USAGE, 1195 ER_CRASHED_ON_REPAIR, 1459 ER_TABLE_NEEDS_UPGRADE, 1712 ER_INDEX_CORRUPT,
        1812 ER_TABLESPACE_MISSING, 1814 ER_TABLESPACE_DISCARDED, 1815 ER_INTERNAL_ERROR,
        1817 ER_INNODB_INDEX_CORRUPT, 1877 ER_TABLE_CORRUPT
    ]
        "the storage engine failed or a table is damaged"
        => "read the server's log; CHECK TABLE, REPAIR TABLE, or a backup";
    Outage Open Nothing [
        1296 ER_GET_ERRMSG, 1297 ER_GET_TEMPORARY_ERRMSG, 1429 ER_CONNECT_TO_FOREIGN_DATA_SOURCE,
        1430 ER_QUERY_ON_FOREIGN_DATA_SOURCE
    ]
        "the storage engine, or the server behind a federated table, failed for now"
        => "bring back what is behind the table";
    Outage Open All [
        5 EE_OUTOFMEMORY, 1037 ER_OUTOFMEMORY, 1038 ER_OUT_OF_SORTMEMORY, 1041 ER_OUT_OF_RESOURCES,
        1119 ER_STACK_OVERRUN, 1135 ER_CANT_CREATE_THREAD, 1436 ER_STACK_OVERRUN_NEED_MORE,
        1637 ER_TOO_MANY_CONCURRENT_TRXS, 3015 ER_ENGINE_OUT_OF_MEMORY
    ]
        "the server is out of memory, threads, stack or transaction slots"
        => "give it more, or take load from it";
    Outage Lost All [1180 ER_ERROR_DURING_COMMIT, 1181 ER_ERROR_DURING_ROLLBACK, 3100 ER_RUN_HOOK_ERROR]
        "the server failed in the middle of a COMMIT or ROLLBACK"
        => "nothing: the job looks up what became of it; read the server's log where it stays";
    Outage Open All [1950 ER_GTID_STRICT_OUT_OF_ORDER]
        "the server cannot give the transaction a number in its binary log (gtid_strict_mode)"
        => "mend the server's GTID position, as after a switch-over that left transactions behind";

    // Somebody else was in the way.
    Contention Open All [1205 ER_LOCK_WAIT_TIMEOUT seen]
        "another transaction held a lock for longer than innodb_lock_wait_timeout"
        => "nothing; where it comes often, find who keeps transactions open";
    Contention RolledBack All [
        1213 ER_LOCK_DEADLOCK seen, 1614 ER_XA_RBDEADLOCK, 3101 ER_TRANSACTION_ROLLBACK_DURING_COMMIT
    ]
        "the server rolled this transaction back to resolve a deadlock or a conflict in the cluster"
        => "nothing; where it comes often, see who else writes these rows, and in which order";
    Contention Open Nothing [1020 ER_CHECKREAD]
        "a row was changed by somebody else since it was read"
        => "nothing";
    Contention Open All [1412 ER_TABLE_DEF_CHANGED, 1615 ER_NEED_REPREPARE]
        "a table was changed while the transaction ran"
        => "nothing";
    Contention Open All [1206 ER_LOCK_TABLE_FULL]
        "the transaction took more locks than the server has room for"
        => "raise innodb_buffer_pool_size, or lower database.batch_events";
    Contention Open All [1689 ER_LOCK_ABORTED, 3572 ER_LOCK_NOWAIT]
        "a lock was not free at once"
        => "nothing";

    // This can never be stored as it is.
    Reject Open All [1048 ER_BAD_NULL_ERROR seen, 1263 ER_WARN_NULL_TO_NOTNULL]
        "a column that must not be NULL got NULL"
        => "allow NULL, or make the field required (take optional away)";
    Reject Open All [1364 ER_NO_DEFAULT_FOR_FIELD seen]
        "a column without a default value got no value"
        => "give the column a default, or a value in the step";
    Reject Open Key [
        1022 ER_DUP_KEY, 1062 ER_DUP_ENTRY seen, 1169 ER_DUP_UNIQUE, 1586 ER_DUP_ENTRY_WITH_KEY_NAME,
        1859 ER_DUP_UNKNOWN_IN_INDEX
    ]
        "a row with this key exists"
        => "write the step so that it may come twice (ON DUPLICATE KEY UPDATE, REPLACE), or remove the row";
    Reject Open Nothing [
        1557 ER_FOREIGN_DUPLICATE_KEY, 1761 ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO,
        1762 ER_FOREIGN_DUPLICATE_KEY_WITHOUT_CHILD_INFO
    ]
        "a foreign key would make a row with this key twice"
        => "look at the tables whose foreign keys cascade";
    Reject Open All [1216 ER_NO_REFERENCED_ROW, 1452 ER_NO_REFERENCED_ROW_2 seen]
        "the row refers to a row of another table that does not exist"
        => "add that row, or store it in a step before";
    Reject Open All [1217 ER_ROW_IS_REFERENCED, 1451 ER_ROW_IS_REFERENCED_2 seen]
        "another table's row still refers to this row"
        => "remove that row first, or let the foreign key cascade";
    Reject Open Column [1406 ER_DATA_TOO_LONG seen]
        "the value is longer than its column"
        => "make the column longer";
    Reject Open Column [1264 ER_WARN_DATA_OUT_OF_RANGE seen]
        "the number is out of its column's range"
        => "make the column's type larger";
    Reject Open Nothing [1690 ER_DATA_OUT_OF_RANGE seen, 1916 ER_DATA_OVERFLOW]
        "a calculation left the range of its type"
        => "cast to a larger type in the step";
    Reject Open Column [1265 WARN_DATA_TRUNCATED seen]
        "the value does not fit its column without being cut"
        => "see the column's type: a value that an ENUM lacks, or a number with more digits";
    Reject Open Column [
        1292 ER_TRUNCATED_WRONG_VALUE seen, 1366 ER_TRUNCATED_WRONG_VALUE_FOR_FIELD seen,
        1367 ER_ILLEGAL_VALUE_FOR_TYPE seen, 1411 ER_WRONG_VALUE_FOR_TYPE seen, 1525 ER_WRONG_VALUE
    ]
        "the value is not of its column's type, or not in its character set"
        => "see the column's type and character set (utf8mb4)";
    Reject Open Nothing [
        1300 ER_INVALID_CHARACTER_STRING seen, 1918 ER_BAD_DATA, 1977 ER_CANNOT_CONVERT_CHARACTER seen
    ]
        "the text is not valid in its character set"
        => "see the column's character set (utf8mb4)";
    Reject Open Nothing [1365 ER_DIVISION_BY_ZERO seen]
        "a division by zero"
        => "guard the division in the step (NULLIF)";
    Reject Open Nothing [1441 ER_DATETIME_FUNCTION_OVERFLOW seen]
        "a calculation left the range of dates"
        => "guard the calculation in the step";
    Reject Open All [3819 ER_CHECK_CONSTRAINT_VIOLATED, 4025 ER_CONSTRAINT_FAILED seen]
        "a CHECK constraint of the table refuses the row"
        => "see the constraint that the message names";
    Reject Open All [1369 ER_VIEW_CHECK_FAILED seen]
        "a view's CHECK OPTION refuses the row"
        => "see the view's condition";
    Reject Open Nothing [
        1339 ER_SP_CASE_NOT_FOUND seen, 1643 ER_SIGNAL_NOT_FOUND, 1644 ER_SIGNAL_EXCEPTION seen,
        1645 ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER
    ]
        "a trigger or a procedure refuses the row (SIGNAL)"
        => "see the triggers of the step's table";
    Reject Open Nothing [
        1526 ER_NO_PARTITION_FOR_GIVEN_VALUE seen, 1591 ER_NO_PARTITION_FOR_GIVEN_VALUE_SILENT,
        1748 ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET seen, 1863 ER_ROW_IN_WRONG_PARTITION
    ]
        "no partition of the table takes the row"
        => "add a partition for it";
    Reject Open Nothing [
        3140 ER_INVALID_JSON_TEXT, 3141 ER_INVALID_JSON_TEXT_IN_PARAM, 3144 ER_INVALID_JSON_CHARSET,
        3147 ER_INVALID_CAST_TO_JSON, 3150 ER_JSON_VALUE_TOO_BIG, 3151 ER_JSON_KEY_TOO_BIG,
        3155 ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, 3156 ER_INVALID_JSON_VALUE_FOR_CAST,
        3157 ER_JSON_DOCUMENT_TOO_DEEP, 3158 ER_JSON_DOCUMENT_NULL_KEY, 4035 ER_JSON_BAD_CHR,
        4036 ER_JSON_NOT_JSON_CHR, 4037 ER_JSON_EOS, 4038 ER_JSON_SYNTAX, 4039 ER_JSON_ESCAPING,
        4040 ER_JSON_DEPTH
    ]
        "the text is not valid JSON, or nested too deeply"
        => "see what the column and the step make of the text";
    Reject Open Nothing [
        1416 ER_CANT_CREATE_GEOMETRY_OBJECT seen, 3033 ER_GIS_DIFFERENT_SRIDS, 3037 ER_GIS_INVALID_DATA,
        3616 ER_LONGITUDE_OUT_OF_RANGE, 3617 ER_LATITUDE_OUT_OF_RANGE, 3643 ER_WRONG_SRID_FOR_COLUMN
    ]
        "the value is not a valid geometry"
        => "see what the column and the step make of the value";
    Reject Open Nothing [
        1139 ER_REGEXP_ERROR seen, 3685 ER_REGEXP_ILLEGAL_ARGUMENT, 3688 ER_REGEXP_RULE_SYNTAX
    ]
        "the text is not a valid regular expression"
        => "do not use values of events as expressions";
    Reject Open All [1172 ER_TOO_MANY_ROWS seen, 1242 ER_SUBQUERY_NO_1_ROW seen]
        "a subquery gave more than one row"
        => "make the subquery's key unique, or LIMIT 1 it";
    Reject Open All [1118 ER_TOO_BIG_ROWSIZE seen, 3854 ER_CANNOT_CONVERT_STRING]
        "the row is larger than the storage engine allows, or has a text that it cannot convert"
        => "see the table's row format, and its columns";
    Reject Lost All [1153 ER_NET_PACKET_TOO_LARGE]
        "the row is larger than the server takes (max_allowed_packet)"
        => "raise max_allowed_packet on the server";
    Reject Open All [1162 ER_TOO_LONG_STRING, 1301 ER_WARN_ALLOWED_PACKET_OVERFLOWED seen]
        "a value is larger than the server takes (max_allowed_packet)"
        => "raise max_allowed_packet on the server";

    // The job and the schema do not fit.
    Misconfigured Open All [
        1064 ER_PARSE_ERROR seen, 1065 ER_EMPTY_QUERY, 1149 ER_SYNTAX_ERROR, 1221 ER_WRONG_USAGE
    ]
        "the SQL is not understood"
        => "mend the step";
    Misconfigured Open All [1046 ER_NO_DB_ERROR, 1049 ER_BAD_DB_ERROR seen, 1102 ER_WRONG_DB_NAME]
        "the schema does not exist"
        => "create it, or mend database.url";
    Misconfigured Open All [
        1051 ER_BAD_TABLE_ERROR, 1103 ER_WRONG_TABLE_NAME, 1109 ER_UNKNOWN_TABLE seen,
        1146 ER_NO_SUCH_TABLE seen, 1932 ER_NO_SUCH_TABLE_IN_ENGINE, 1347 ER_WRONG_OBJECT,
        1356 ER_VIEW_INVALID seen
    ]
        "a table or view does not exist, or a view is not valid any more"
        => "create it, or mend the step";
    Misconfigured Open All [
        1052 ER_NON_UNIQ_ERROR seen, 1054 ER_BAD_FIELD_ERROR seen, 1059 ER_TOO_LONG_IDENT,
        1060 ER_DUP_FIELDNAME, 1110 ER_FIELD_SPECIFIED_TWICE seen, 1166 ER_WRONG_COLUMN_NAME,
        1247 ER_ILLEGAL_REFERENCE, 1250 ER_TABLENAME_NOT_ALLOWED_HERE
    ]
        "a column does not exist, is ambiguous, or is named twice"
        => "add it, or mend the step";
    Misconfigured Open All [
        1136 ER_WRONG_VALUE_COUNT_ON_ROW seen, 1058 ER_WRONG_VALUE_COUNT,
        1222 ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT seen, 1241 ER_OPERAND_COLUMNS seen
    ]
        "the number of columns does not fit"
        => "mend the step";
    Misconfigured Open All [
        1305 ER_SP_DOES_NOT_EXIST seen, 1318 ER_SP_WRONG_NO_OF_ARGS seen,
        1582 ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT seen, 1583 ER_WRONG_PARAMETERS_TO_NATIVE_FCT,
        1584 ER_WRONG_PARAMETERS_TO_STORED_FCT, 1630 ER_FUNC_INEXISTENT_NAME_COLLISION,
        1128 ER_FUNCTION_NOT_DEFINED
    ]
        "a function or procedure does not exist, or takes other arguments"
        => "create it, or mend the step";
    Misconfigured Open All [
        1312 ER_SP_BADSELECT, 1414 ER_SP_NOT_VAR_ARG, 1415 ER_SP_NO_RETSET,
        1422 ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, 1424 ER_SP_NO_RECURSION seen, 1456 ER_SP_RECURSION_LIMIT
    ]
        "a procedure, function or trigger does something that is not allowed there"
        => "mend it, or the step that calls it";
    Misconfigured Open All [
        1055 ER_WRONG_FIELD_WITH_GROUP, 1056 ER_WRONG_GROUP_FIELD, 1111 ER_INVALID_GROUP_FUNC_USE seen,
        1140 ER_MIX_OF_GROUP_FUNC_AND_FIELDS, 1463 ER_NON_GROUPING_FIELD_USED
    ]
        "grouping and aggregates do not fit"
        => "mend the step";
    Misconfigured Open All [
        1066 ER_NONUNIQ_TABLE seen, 1093 ER_UPDATE_TABLE_USED, 1096 ER_NO_TABLES_USED,
        1137 ER_CANT_REOPEN_TABLE, 1192 ER_LOCK_OR_ACTIVE_TRANSACTION, 1248 ER_DERIVED_MUST_HAVE_ALIAS,
        1442 ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG seen
    ]
        "a table is used in a way that SQL does not allow here"
        => "mend the step";
    Misconfigured Open All [
        1005 ER_CANT_CREATE_TABLE, 1050 ER_TABLE_EXISTS_ERROR, 1071 ER_TOO_LONG_KEY,
        1072 ER_KEY_COLUMN_DOES_NOT_EXIST, 1176 ER_KEY_DOES_NOT_EXISTS seen,
        1191 ER_FT_MATCHING_KEY_NOT_FOUND seen
    ]
        "a table, an index or a key column cannot be made or used so"
        => "mend the schema, or the step";
    Misconfigured Open All [
        1115 ER_UNKNOWN_CHARACTER_SET seen, 1253 ER_COLLATION_CHARSET_MISMATCH seen,
        1267 ER_CANT_AGGREGATE_2COLLATIONS seen, 1270 ER_CANT_AGGREGATE_3COLLATIONS,
        1271 ER_CANT_AGGREGATE_NCOLLATIONS, 1273 ER_UNKNOWN_COLLATION seen
    ]
        "character sets or collations do not fit"
        => "give the columns one collation, or the step a COLLATE";
    Misconfigured Open All [
        1193 ER_UNKNOWN_SYSTEM_VARIABLE seen, 1231 ER_WRONG_VALUE_FOR_VAR, 1298 ER_UNKNOWN_TIME_ZONE
    ]
        "a server variable or time zone does not exist"
        => "mend the step";
    Misconfigured Open All [
        1031 ER_ILLEGAL_HA, 1148 ER_NOT_ALLOWED_COMMAND, 1235 ER_NOT_SUPPORTED_YET seen,
        1286 ER_UNKNOWN_STORAGE_ENGINE, 1295 ER_UNSUPPORTED_PS, 1210 ER_WRONG_ARGUMENTS
    ]
        "the server does not support this statement in this form"
        => "mend the step";
    Misconfigured Lost All [9003 PROXYSQL_COMMAND_NOT_SUPPORTED, 9006 PROXYSQL_LOCKED_TO_HOSTGROUP]
        "ProxySQL does not support this statement in this form"
        => "send the job's whole connection to one hostgroup (transaction_persistent, no rule by digest)";
    Misconfigured Open All [
        1288 ER_NON_UPDATABLE_TABLE seen, 1348 ER_NONUPDATEABLE_COLUMN seen, 1393 ER_VIEW_MULTIUPDATE seen,
        1394 ER_VIEW_NO_INSERT_FIELD_LIST seen, 1395 ER_VIEW_DELETE_MERGE_VIEW seen,
        1423 ER_NO_DEFAULT_FOR_VIEW_FIELD, 1443 ER_VIEW_PREVENT_UPDATE, 1462 ER_VIEW_RECURSIVE,
        1471 ER_NON_INSERTABLE_TABLE seen
    ]
        "the view or derived table cannot be written to"
        => "write to its tables";
    Misconfigured Open All [1390 ER_PS_MANY_PARAM, 1104 ER_TOO_BIG_SELECT]
        "the statement has too many parameters, or would read too much"
        => "mend the step; max_join_size of the server";
    Misconfigured Open All [
        167 HA_ERR_AUTOINC_ERANGE seen, 1467 ER_AUTOINC_READ_FAILED seen, 4084 ER_SEQUENCE_RUN_OUT seen
    ]
        "an AUTO_INCREMENT or a sequence has run out"
        => "make the column's type larger, or let the sequence go on";
    Misconfigured Open All [
        1906 ER_WARNING_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN seen,
        3105 ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN
    ]
        "a generated column was given a value"
        => "leave it out of the step";
    Misconfigured Open All [1449 ER_NO_SUCH_USER seen]
        "the definer of a view, trigger or procedure does not exist"
        => "create the account, or define it anew";
    Misconfigured Open All [1099 ER_TABLE_NOT_LOCKED_FOR_WRITE, 1100 ER_TABLE_NOT_LOCKED]
        "the table was not locked for this"
        => "leave LOCK TABLES out of triggers and procedures";
    Misconfigured Open All [1197 ER_TRANS_CACHE_FULL, 1705 ER_STMT_CACHE_FULL]
        "the transaction is larger than the binary log's cache (max_binlog_cache_size)"
        => "raise max_binlog_cache_size, or lower database.batch_events";
    Misconfigured Open All [
        1598 ER_BINLOG_LOGGING_IMPOSSIBLE, 1661 ER_BINLOG_ROW_ENGINE_AND_STMT_ENGINE,
        1662 ER_BINLOG_ROW_MODE_AND_STMT_ENGINE, 1663 ER_BINLOG_UNSAFE_AND_STMT_ENGINE,
        1664 ER_BINLOG_ROW_INJECTION_AND_STMT_ENGINE, 1665 ER_BINLOG_STMT_MODE_AND_ROW_ENGINE seen,
        1666 ER_BINLOG_ROW_INJECTION_AND_STMT_MODE, 4033 ER_BINLOG_NON_SUPPORTED_BULK
    ]
        "the server's binary log does not take this (binlog_format = STATEMENT and READ COMMITTED, mostly)"
        => "SET GLOBAL binlog_format = 'ROW'";
    Misconfigured Open All [
        1785 ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE, 1786 ER_GTID_UNSAFE_CREATE_SELECT,
        1787 ER_GTID_UNSAFE_CREATE_DROP_TEMPORARY_TABLE_IN_TRANSACTION, 3098 ER_BEFORE_DML_VALIDATION_ERROR
    ]
        "the server's replication does not allow this table or statement"
        => "InnoDB tables with a primary key in all steps";
    Misconfigured Lost All [
        1251 ER_NOT_SUPPORTED_AUTH_MODE, 1275 ER_SERVER_IS_IN_SECURE_AUTH_MODE, 1524 ER_PLUGIN_IS_NOT_LOADED,
        3159 ER_SECURE_TRANSPORT_REQUIRED
    ]
        "the account logs in by a method that is not supported here"
        => "see the account's plugin (mysql_native_password), and whether the server wants TLS";

    // Rights are missing.
    Rights Lost All [
        1044 ER_DBACCESS_DENIED_ERROR seen, 1045 ER_ACCESS_DENIED_ERROR seen, 1130 ER_HOST_NOT_PRIVILEGED,
        1131 ER_PASSWORD_ANONYMOUS_USER, 1132 ER_PASSWORD_NOT_ALLOWED, 1698 ER_ACCESS_DENIED_NO_PASSWORD_ERROR,
        1873 ER_ACCESS_DENIED_CHANGE_USER_ERROR, 3118 ER_ACCOUNT_HAS_BEEN_LOCKED,
        3955 ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK, 4150 ER_USER_IS_BLOCKED seen,
        4151 ER_ACCOUNT_HAS_BEEN_LOCKED seen
    ]
        "the account may not log in from here, or may not use the schema"
        => "see database.url and the password, the account's host, locks and grants";
    Rights Lost All [1820 ER_MUST_CHANGE_PASSWORD seen, 1862 ER_MUST_CHANGE_PASSWORD_LOGIN seen]
        "the account's password has expired"
        => "set a new one (ALTER USER), and put it into the job's password file";
    Rights Open All [
        1095 ER_KILL_DENIED_ERROR, 1142 ER_TABLEACCESS_DENIED_ERROR seen,
        1143 ER_COLUMNACCESS_DENIED_ERROR seen, 1227 ER_SPECIFIC_ACCESS_DENIED_ERROR,
        1370 ER_PROCACCESS_DENIED_ERROR, 1410 ER_CANT_CREATE_USER_WITH_GRANT,
        1419 ER_BINLOG_CREATE_ROUTINE_NEED_SUPER, 3879 ER_DB_ACCESS_DENIED
    ]
        "the account lacks a right"
        => "GRANT what the message names; `tidegate check` says what else is missing";
};
