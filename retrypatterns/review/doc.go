// Package review gives a second opinion on the Retry and Catch blocks of any state machine definition. It finds
// retriers and catchers that can never match, errors that are not retried or that no retry can fix, waits without
// jitter, cap or limit, work that is done twice, and retries that multiply across nesting levels or keep an outage
// alive, and computes how long all of it can take. Each kind of finding is a rule (Rules) with a code, a severity,
// what is wrong, and why; some can be fixed mechanically (Fix).
//
// The definition must be valid for Step Functions: all findings are advice. A Comment of the machine, a state, a
// retrier or a catcher that contains "stepback:ignore CODE reason" silences a rule there and below, with its reason.
//
// The package does no I/O and executes nothing.
//
//go:generate go test . -run TestDocsAreCurrent -update
package review
