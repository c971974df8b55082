package retry

// Rule is the policy for some errors, by name. A list of rules decides as a state's Retry array does: the first rule
// that covers an error applies to it, and each rule counts its own retries.
type Rule struct {
	// Errors are the names that the rule covers, with the wildcards of Step Functions: States.ALL covers every error,
	// States.TaskFailed every error but a timeout. nil covers every error, an empty list none.
	Errors []string
	Policy Policy
}

// Covers reports whether the rule applies to the named error. [TimeoutError] is what States.Timeout covers outside of
// Step Functions.
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
