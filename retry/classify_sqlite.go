package retry

import "strconv"

// sqliteRule covers one extended result code. If its code is below 256, it covers a primary code and all its
// extensions.
type sqliteRule struct {
	code    int
	name    string
	verdict verdict
}

// sqliteRules lists the extended codes that differ from their primary code, then the primary codes. All other codes
// are statements that SQLite rejects.
var sqliteRules = []sqliteRule{
	{517, "SQLITE_BUSY_SNAPSHOT", verdict{ConcurrentModificationException, Conflict}},
	// waiting does not help: start a new transaction
	{2, "SQLITE_INTERNAL", verdict{StorageError, Permanent}},
	{3, "SQLITE_PERM", verdict{AccessDenied, Permanent}},
	{4, "SQLITE_ABORT", verdict{OperationCancelled, Permanent}},
	{5, "SQLITE_BUSY", verdict{AuroraTemporaryError, Transient}},
	{6, "SQLITE_LOCKED", verdict{DeadlockException, Conflict}},
	{7, "SQLITE_NOMEM", verdict{StorageError, Permanent}},
	{8, "SQLITE_READONLY", verdict{StorageError, Permanent}},
	{9, "SQLITE_INTERRUPT", verdict{OperationCancelled, Permanent}},
	{10, "SQLITE_IOERR", verdict{StorageError, Permanent}},
	{11, "SQLITE_CORRUPT", verdict{StorageError, Permanent}},
	{13, "SQLITE_FULL", verdict{StorageError, Permanent}},
	{14, "SQLITE_CANTOPEN", verdict{StorageError, Permanent}},
	{15, "SQLITE_PROTOCOL", verdict{AuroraTemporaryError, Transient}},
	{17, "SQLITE_SCHEMA", verdict{AuroraTemporaryError, Transient}},
	{23, "SQLITE_AUTH", verdict{AccessDenied, Permanent}},
	{26, "SQLITE_NOTADB", verdict{StorageError, Permanent}},
}

// SQLite result codes that are not errors.
const (
	sqliteOK      = 0
	sqliteNotice  = 27
	sqliteWarning = 28
	sqliteRow     = 100
	sqliteDone    = 101
)

// ClassifySQLite classifies an SQLite result code, extended or primary. A conflict requires a new transaction. It is
// false for negative numbers and for codes that are not errors (OK, NOTICE, WARNING, ROW, DONE).
func ClassifySQLite(code int) (Classification, bool) {
	primary := code & 0xff
	switch primary {
	case sqliteOK, sqliteNotice, sqliteWarning, sqliteRow, sqliteDone:
		return Classification{}, false
	}
	if code < 0 {
		return Classification{}, false
	}
	identity := "SQLite result code " + strconv.Itoa(code)
	for _, rule := range sqliteRules {
		if rule.code == code || rule.code == primary {
			return rule.verdict.of(identity)
		}
	}
	return refusedBySQL.of(identity)
}
