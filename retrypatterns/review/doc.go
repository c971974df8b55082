// Package review gives a second opinion on the Retry and Catch blocks of any state machine definition: retriers and
// catchers that can never match, errors that nobody retries or that no retry mends, waits without jitter, cap or limit,
// work that is done twice, retries that multiply from level to level or keep an outage alive, and how long all of it
// can last. Each kind of finding is a rule (Rules) with a code, a severity, what is wrong, and why; some can be mended
// mechanically (Fix).
//
// The definition is one that Step Functions accepts: everything here is advice. A Comment of the machine, a state, a
// retrier or a catcher that says "stepback:ignore CODE reason" silences a rule there and below, with its reason.
//
// The package does no I/O and carries nothing out.
//
//go:generate go test . -run TestDocsAreCurrent -update
package review
