package csvimport

// NameOfSQLState is the error name of a PostgreSQL SQLSTATE. A class that no
// retry can mend and that is not a fault of the SQL is RetryNotWorthwhile.
//
// Codes and names: PostgreSQL's errcodes.txt.
func NameOfSQLState(code string) string {
	if name, ok := sqlStates[code]; ok {
		return name
	}
	if len(code) != 5 {
		return RetryNotWorthwhile
	}
	switch code[:2] {
	case "08": // connection exceptions
		return DatabaseConnectionError
	case "22", "23", "42", "21", "0A": // data, constraint, syntax, cardinality, unsupported
		return DatabaseConstraintViolation
	case "28": // invalid authorization
		return AccessDenied
	case "40": // transaction rollback
		return ConcurrentModificationException
	case "58": // system and I/O errors outside the database
		return AuroraTemporaryError
	}
	return RetryNotWorthwhile
}

var sqlStates = map[string]string{
	"40001": ConcurrentModificationException, // serialization_failure
	"40P01": DeadlockException,               // deadlock_detected
	"40002": DatabaseConstraintViolation,     // integrity constraint at commit
	"40003": DatabaseConnectionError,         // statement_completion_unknown: the key decides on the retry
	"08P01": RetryNotWorthwhile,              // protocol_violation
	"57P01": AuroraTemporaryError,            // admin_shutdown, as in a failover
	"57P02": AuroraTemporaryError,            // crash_shutdown
	"57P03": AuroraTemporaryError,            // cannot_connect_now
	"57P05": DatabaseConnectionError,         // idle_session_timeout
	"57014": TimeoutError,                    // query_canceled, by statement_timeout
	"53300": DatabaseConnectionError,         // too_many_connections
	"53200": AuroraTemporaryError,            // out_of_memory
	"55P03": ConcurrentModificationException, // lock_not_available
	"55006": ConcurrentModificationException, // object_in_use
	"25006": AuroraTemporaryError,            // read only: a stale writer endpoint after failover
	"25P02": AuroraTemporaryError,            // in_failed_sql_transaction
	"42501": AccessDenied,                    // insufficient_privilege
}

// NameOfSQLiteCode is the error name of an SQLite result code, primary or extended.
//
// Codes: sqlite.org/rescode.html.
func NameOfSQLiteCode(code int) string {
	if code == 517 { // SQLITE_BUSY_SNAPSHOT: the transaction must start afresh
		return ConcurrentModificationException
	}
	switch code & 0xff {
	case 5, 15: // BUSY, PROTOCOL: another process holds the lock
		return AuroraTemporaryError
	case 6: // LOCKED: a conflict inside this process
		return ConcurrentModificationException
	case 9: // INTERRUPT
		return TimeoutError
	case 10: // IOERR
		return AuroraTemporaryError
	case 14: // CANTOPEN
		return DatabaseConnectionError
	case 18, 19, 20, 25: // TOOBIG, CONSTRAINT, MISMATCH, RANGE
		return DatabaseConstraintViolation
	case 1: // ERROR: SQL that cannot run
		return DatabaseConstraintViolation
	case 3, 8, 23: // PERM, READONLY, AUTH
		return AccessDenied
	}
	return RetryNotWorthwhile // FULL, CORRUPT, NOTADB, NOMEM …
}
