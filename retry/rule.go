package retry

// Rule is a policy for errors with certain names. A list of rules works like a state's Retry array: the first rule
// that covers an error applies, and each rule counts its own retries.
type Rule struct {
	// Errors are the names that the rule covers, with the wildcards of Step Functions: States.ALL covers every error,
	// States.TaskFailed every error but a timeout. nil covers every error, an empty list none.
	Errors []string
	Policy Policy
}

// Covers reports whether the rule covers an error name. Outside of Step Functions, States.Timeout covers
// [TimeoutError].
func (r Rule) Covers(name string) bool {
	if r.Errors == nil {
		return true
	}
	for _, covered := range r.Errors {
		switch covered {
		case name, StatesALL:
			return true
		case StatesTaskFailed:
			if name != TimeoutError {
				return true
			}
		case StatesTimeout:
			if name == TimeoutError {
				return true
			}
		}
	}
	return false
}
