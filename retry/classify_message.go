package retry

import "strings"

// messageRule matches a text in an error's message, ignoring case.
type messageRule struct {
	text    string // lower case
	verdict verdict
}

// messageRules are texts that Node.js, Go, libpq, SQLite and Lambda use. They are tried in order, the more specific
// ones first.
var messageRules = []messageRule{
	{"econnrefused", verdict{ConnectionTimeoutError, Transient}},
	{"enetunreach", verdict{ConnectionTimeoutError, Transient}},
	{"econnreset", verdict{SocketTimeoutError, UnknownOutcome}},
	{"etimedout", verdict{SocketTimeoutError, UnknownOutcome}},
	{"socket hang up", verdict{SocketTimeoutError, UnknownOutcome}},
	{"connection refused", verdict{ConnectionTimeoutError, Transient}},
	{"no such host", verdict{ConnectionTimeoutError, Transient}},
	{"network is unreachable", verdict{ConnectionTimeoutError, Transient}},
	{"tls handshake timeout", verdict{ConnectionTimeoutError, Transient}},
	{"connection reset by peer", verdict{SocketTimeoutError, UnknownOutcome}},
	{"broken pipe", verdict{SocketTimeoutError, UnknownOutcome}},
	{"i/o timeout", verdict{SocketTimeoutError, UnknownOutcome}},
	{"unexpected eof", verdict{SocketTimeoutError, UnknownOutcome}},
	{"task timed out after", verdict{SandboxTimedout, UnknownOutcome}},
	{"deadlock detected", verdict{DeadlockException, Conflict}},
	{"database is locked", verdict{AuroraTemporaryError, Transient}},
	{"too many connections", verdict{DatabaseConnectionError, Transient}},
	{"no space left on device", verdict{StorageError, Permanent}},
	{"too many requests", verdict{TooManyRequestsError, Transient}},
	{"service unavailable", verdict{ServiceUnavailableError, Transient}},
}

// ClassifyMessage classifies an error by its message. Messages change without notice and quote other messages, so
// use it only for errors that carry no code at all. It returns false if the message contains no known text.
func ClassifyMessage(message string) (Classification, bool) {
	message = strings.ToLower(message)
	for _, rule := range messageRules {
		if strings.Contains(message, rule.text) {
			return rule.verdict.of("message text " + rule.text)
		}
	}
	return Classification{}, false
}
