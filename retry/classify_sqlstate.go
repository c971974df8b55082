package retry

// sqlRule covers one SQLSTATE. If its code has two characters, it covers a whole class.
type sqlRule struct {
	code    string
	meaning string
	verdict verdict
}

// sqlRules lists the codes that differ from their class, then the classes. All other codes are statements that the
// database rejects.
var sqlRules = []sqlRule{
	{"08001", "cannot establish the connection", verdict{DatabaseConnectionError, Transient}},
	{"08004", "server rejected the connection", verdict{DatabaseConnectionError, Transient}},
	{"08P01", "protocol violation", verdict{DatabaseConstraintViolation, Permanent}},
	{"25006", "read-only transaction: a stale writer endpoint after a failover", verdict{AuroraTemporaryError,
		Transient}},
	{"40002", "integrity constraint violated at commit", verdict{DatabaseConstraintViolation, Permanent}},
	{"40003", "statement completion unknown", verdict{AuroraTemporaryError, UnknownOutcome}},
	{"40P01", "deadlock detected", verdict{DeadlockException, Conflict}},
	{"42501", "insufficient privilege", verdict{AccessDenied, Permanent}},
	{"53200", "out of memory", verdict{AuroraTemporaryError, Transient}},
	{"53300", "too many connections", verdict{DatabaseConnectionError, Transient}},
	{"55006", "object in use", verdict{ConcurrentModificationException, Conflict}},
	{"55P03", "lock not available", verdict{ConcurrentModificationException, Conflict}},
	{"57014", "query cancelled", verdict{OperationCancelled, Permanent}},
	{"57P01", "shut down by the administrator", verdict{AuroraTemporaryError, UnknownOutcome}},
	{"57P02", "shut down by a crash", verdict{AuroraTemporaryError, UnknownOutcome}},
	{"57P03", "cannot connect now", verdict{AuroraTemporaryError, Transient}},
	{"57P05", "idle session timeout", verdict{DatabaseConnectionError, Transient}},

	{"08", "connection exception", verdict{DatabaseConnectionError, UnknownOutcome}},
	{"28", "invalid authorization", verdict{AccessDenied, Permanent}},
	{"40", "transaction rollback, serialization failure", verdict{ConcurrentModificationException, Conflict}},
	{"53", "insufficient resources, disk full", verdict{StorageError, Permanent}},
	{"58", "system error outside the database", verdict{AuroraTemporaryError, UnknownOutcome}},
	{"XX", "internal error, corruption", verdict{StorageError, Permanent}},
}

// refusedBySQL is the verdict for data exceptions (22), constraint violations (23), syntax errors (42) and everything
// else that sqlRules leaves out.
var refusedBySQL = verdict{DatabaseConstraintViolation, Permanent}

// ClassifySQLState classifies a PostgreSQL or Aurora SQLSTATE. A conflict requires a new transaction. It is false for
// text that is not a code of five characters, and for the codes of success (00), warning (01) and no data (02).
func ClassifySQLState(code string) (Classification, bool) {
	if len(code) != 5 {
		return Classification{}, false
	}
	class := code[:2]
	if class == "00" || class == "01" || class == "02" {
		return Classification{}, false
	}
	for _, rule := range sqlRules {
		if rule.code == code || rule.code == class {
			return rule.verdict.of("SQLSTATE " + code)
		}
	}
	return refusedBySQL.of("SQLSTATE " + code)
}
