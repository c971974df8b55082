package environment

const (
	// defaultAccountConcurrency is an account's concurrency in a region unless more is requested.
	defaultAccountConcurrency = 1000
	// unreservable is the concurrency that Lambda keeps for functions without a reservation. Lambda rejects
	// reservations that leave less.
	unreservable = 100
)

// maxInvocations returns a limit below the account's concurrency, so that other functions can still run.
func (e Environment) maxInvocations() int {
	return e.AccountConcurrency - max(e.AccountConcurrency/10, 1)
}

// Within returns the environment adapted to an account that runs limit concurrent invocations in the region: its
// concurrency is reduced to fit. Validate rejects a limit below 2.
func (e Environment) Within(limit int) Environment {
	e.AccountConcurrency = limit
	e.RangeConcurrency = max(1, min(e.RangeConcurrency, e.maxInvocations()))
	e.Concurrency = max(1, min(e.Concurrency, e.maxInvocations()/max(e.BatchConcurrency, 1)))
	e.FilesConcurrency = max(1, min(e.FilesConcurrency, e.maxInvocations()/max(e.Concurrency*e.BatchConcurrency, 1)))
	return e
}

// MayReserve reports whether the account can reserve concurrency for functions.
func (e Environment) MayReserve() bool { return e.AccountConcurrency > unreservable }
