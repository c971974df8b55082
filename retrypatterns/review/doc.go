// Package review gives a second opinion on the Retry blocks of any state machine definition: retriers that can never
// match, errors of Lambda that nobody retries, errors that no retry mends, waits without jitter, cap or limit, retries
// that multiply from level to level, and how long all of it can last. The definition is one that Step Functions
// accepts: everything here is advice. The package does no I/O, carries nothing out and changes no definition.
package review
