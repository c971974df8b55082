package retry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// networkRule matches an error value of the standard library.
type networkRule struct {
	meaning string
	match   func(error) bool
	verdict verdict
}

// networkRules are tried in order. An error before anything was sent is transient; a later one has an unknown
// outcome.
var networkRules = []networkRule{
	{"context cancelled", is(context.Canceled), verdict{OperationCancelled, Permanent}},
	{"connection of database/sql is bad or closed", is(driver.ErrBadConn, sql.ErrConnDone),
		verdict{DatabaseConnectionError, Transient}},
	{"DNS lookup failed", as[*net.DNSError], verdict{ConnectionTimeoutError, Transient}},
	{"TLS certificate not trusted", certificateRefused, verdict{AccessDenied, Permanent}},
	{"TLS response is not TLS", as[tls.RecordHeaderError], verdict{InvalidInput, Permanent}},
	{"TLS handshake refused", as[tls.AlertError], verdict{ConnectionTimeoutError, Transient}},
	{"refused, host or network unreachable (ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN, EADDRNOTAVAIL)",
		is(syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN,
			syscall.EADDRNOTAVAIL),
		verdict{ConnectionTimeoutError, Transient}},
	{"too many open files (EMFILE, ENFILE)", is(syscall.EMFILE, syscall.ENFILE), verdict{ConnectionTimeoutError,
		Transient}},
	{"storage full, read-only or damaged (ENOSPC, EDQUOT, EROFS, EIO)",
		is(syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO), verdict{StorageError, Permanent}},
	{"not permitted (EACCES, EPERM)", is(syscall.EACCES, syscall.EPERM), verdict{AccessDenied, Permanent}},
	{"connecting timed out", dialTimedOut, verdict{ConnectionTimeoutError, Transient}},
	{"context deadline exceeded", is(context.DeadlineExceeded), verdict{TimeoutError, UnknownOutcome}},
	{"connection reset, broken or closed (ECONNRESET, EPIPE, ECONNABORTED, ETIMEDOUT)",
		is(syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, syscall.ETIMEDOUT, net.ErrClosed,
			io.ErrUnexpectedEOF),
		verdict{SocketTimeoutError, UnknownOutcome}},
	{"reading or writing timed out", timedOut, verdict{SocketTimeoutError, UnknownOutcome}},
}

// classifyNetwork classifies an error of the context, net, crypto/tls, syscall, io and database/sql packages, wrapped
// or not. It is false for other errors.
func classifyNetwork(err error) (Classification, bool) {
	for _, rule := range networkRules {
		if rule.match(err) {
			return rule.verdict.of(rule.meaning)
		}
	}
	return Classification{}, false
}

func is(targets ...error) func(error) bool {
	return func(err error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func certificateRefused(err error) bool {
	return as[*tls.CertificateVerificationError](err) || as[x509.UnknownAuthorityError](err) ||
		as[x509.HostnameError](err) || as[x509.CertificateInvalidError](err)
}

func dialTimedOut(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" && op.Timeout()
}

func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, os.ErrDeadlineExceeded)
}
