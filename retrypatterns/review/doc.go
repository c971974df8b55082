// Package review checks the Retry and Catch blocks of any state machine definition. It finds retriers and catchers
// that can never match, errors that are not retried or that no retry can fix, and waits without jitter, cap or
// limit. It also finds work that is done twice, and retries that multiply across nesting levels or prolong an
// outage. It computes how long all retries can take. Each kind of finding is a rule (Rules) with a code, a
// severity, a description of the problem, and an explanation. Some findings can be fixed mechanically (Fix).
//
// The definition must be valid for Step Functions: all findings are advice. To silence a rule, write
// "stepback:ignore CODE reason" into the Comment of the machine, a state, a retrier or a catcher. The rule is then
// silenced there and in everything inside it.
//
// The package does no I/O and executes nothing.
//
//go:generate go test . -run TestDocsAreCurrent -update
package review
