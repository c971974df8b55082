package csvimport

import "stepback/retry"

// The permanent failures that all stores return, so that their messages are the same for every database.

// KeyReused returns the error for a row that was already applied with other values.
func KeyReused(file Source, row int64) error {
	return Fail(retry.InvalidInput,
		"row %d of %s (ETag %s) was applied before with other values: one version of a file has one record in a row; nothing was changed", row, file, file.ETag)
}

// RowClosed returns the error for a row that Settle has closed, and that is therefore reported as dead-lettered.
func RowClosed(file Source, row int64) error {
	return Fail(retry.RetryNotWorthwhile,
		"row %d of %s (ETag %s) was dead-lettered when the file was summed up: import it from the corrections file; nothing was changed", row, file, file.ETag)
}

// CounterOverflow returns the error for an increment that would overflow a counter.
func CounterOverflow(inc Increment) error {
	return Fail(retry.ValidationError,
		"user %q: adding %d logins and %d posts would take a counter beyond 9223372036854775807; nothing was changed",
		inc.UserID, inc.LoginCount, inc.PostCount)
}
