package environment

const (
	// defaultAccountConcurrency is what an account has in a region until more is asked for.
	defaultAccountConcurrency = 1000
	// unreservable is what Lambda keeps for functions without a reservation: none is accepted that leaves less.
	unreservable = 100
)

// maxInvocations stays below what the account runs at a time, so that other functions still run.
func (e Environment) maxInvocations() int {
	return e.AccountConcurrency - max(e.AccountConcurrency/10, 1)
}

// Within returns the environment as it can be deployed to an account that runs limit invocations at a time in the
// region: with no more rows at once than that has room for. A limit below 2 is refused by Validate.
func (e Environment) Within(limit int) Environment {
	e.AccountConcurrency = limit
	e.Concurrency = max(1, min(e.Concurrency, e.maxInvocations()/max(e.BatchConcurrency, 1)))
	return e
}

// MayReserve tells whether the account lets functions have instances reserved for them.
func (e Environment) MayReserve() bool { return e.AccountConcurrency > unreservable }
