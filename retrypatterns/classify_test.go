package retrypatterns_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	rp "stepback/retrypatterns"
)

// expectation is a name and a class; the zero value means: not classified.
type expectation struct {
	name  string
	class rp.Class
}

func check(t *testing.T, what string, c rp.Classification, ok bool, want expectation) {
	t.Helper()
	if got := (expectation{c.Error, c.Class}); got != want || ok != (want != expectation{}) {
		t.Errorf("%s: got %v (%v), want %v", what, got, ok, want)
	}
}

func TestClassifyHTTP(t *testing.T) {
	t.Parallel()
	tests := map[int]expectation{
		0: {}, 200: {}, 302: {}, 399: {}, 600: {}, -1: {},
		400: {"InvalidInput", rp.Permanent}, 401: {"AccessDenied", rp.Permanent}, 403: {"AccessDenied", rp.Permanent},
		404: {"InvalidInput", rp.Permanent}, 405: {"InvalidInput", rp.Permanent}, 408: {"TimeoutError", rp.Transient},
		409: {"ConcurrentModificationException", rp.Conflict}, 412: {"OptimisticLockException", rp.Conflict},
		413: {"InvalidInput", rp.Permanent}, 421: {"ServiceUnavailableError", rp.Transient},
		422: {"InvalidInput", rp.Permanent},
		423: {"ConcurrentModificationException", rp.Conflict}, 425: {"ServiceUnavailableError", rp.Transient},
		429: {"TooManyRequestsError", rp.Transient}, 499: {"InvalidInput", rp.Permanent},
		500: {"InternalServerError", rp.UnknownOutcome}, 501: {"InvalidInput", rp.Permanent},
		502: {"ServiceUnavailableError", rp.Transient},
		503: {"ServiceUnavailableError", rp.Transient}, 504: {"TimeoutError", rp.UnknownOutcome},
		505: {"InvalidInput", rp.Permanent},
		511: {"AccessDenied", rp.Permanent}, 599: {"InternalServerError", rp.UnknownOutcome},
	}
	for status, want := range tests {
		c, ok := rp.ClassifyHTTP(status)
		check(t, fmt.Sprint("HTTP ", status), c, ok, want)
	}
}

func TestClassifyGRPC(t *testing.T) {
	t.Parallel()
	tests := map[uint32]expectation{
		0: {}, 17: {}, 4294967295: {},
		1: {"OperationCancelled", rp.Permanent}, 3: {"InvalidInput", rp.Permanent},
		4: {"TimeoutError", rp.UnknownOutcome},
		5: {"InvalidInput", rp.Permanent}, 7: {"AccessDenied", rp.Permanent}, 8: {"TooManyRequestsError", rp.Transient},
		10: {"ConcurrentModificationException", rp.Conflict}, 13: {"InternalServerError", rp.UnknownOutcome},
		14: {"ServiceUnavailableError", rp.Transient}, 15: {"StorageError", rp.Permanent},
		16: {"AccessDenied", rp.Permanent},
	}
	for code, want := range tests {
		c, ok := rp.ClassifyGRPC(code)
		check(t, fmt.Sprint("gRPC ", code), c, ok, want)
	}
}

func TestClassifySQLState(t *testing.T) {
	t.Parallel()
	tests := map[string]expectation{
		"": {}, "4000": {}, "400011": {}, "00000": {}, "01000": {}, "02000": {},
		"40001": {"ConcurrentModificationException", rp.Conflict}, "40P01": {"DeadlockException", rp.Conflict},
		"40002": {"DatabaseConstraintViolation", rp.Permanent}, "40003": {"AuroraTemporaryError", rp.UnknownOutcome},
		"08000": {"DatabaseConnectionError", rp.UnknownOutcome}, "08001": {"DatabaseConnectionError", rp.Transient},
		"08003": {"DatabaseConnectionError", rp.UnknownOutcome}, "08004": {"DatabaseConnectionError", rp.Transient},
		"08006": {"DatabaseConnectionError", rp.UnknownOutcome}, "08007": {"DatabaseConnectionError",
			rp.UnknownOutcome},
		"08P01": {"DatabaseConstraintViolation", rp.Permanent},
		"57P01": {"AuroraTemporaryError", rp.UnknownOutcome}, "57P02": {"AuroraTemporaryError", rp.UnknownOutcome},
		"57P03": {"AuroraTemporaryError", rp.Transient}, "57P04": {"DatabaseConstraintViolation", rp.Permanent},
		"57P05": {"DatabaseConnectionError", rp.Transient},
		"57014": {"OperationCancelled", rp.Permanent}, "53300": {"DatabaseConnectionError", rp.Transient},
		"53200": {"AuroraTemporaryError", rp.Transient}, "53100": {"StorageError", rp.Permanent},
		"53400": {"StorageError", rp.Permanent},
		"55P03": {"ConcurrentModificationException", rp.Conflict}, "55006": {"ConcurrentModificationException",
			rp.Conflict},
		"25006": {"AuroraTemporaryError", rp.Transient}, "25P02": {"DatabaseConstraintViolation", rp.Permanent},
		"58000": {"AuroraTemporaryError", rp.UnknownOutcome}, "58030": {"AuroraTemporaryError", rp.UnknownOutcome},
		"XX000": {"StorageError", rp.Permanent}, "22003": {"DatabaseConstraintViolation", rp.Permanent},
		"23505": {"DatabaseConstraintViolation", rp.Permanent}, "42601": {"DatabaseConstraintViolation", rp.Permanent},
		"42501": {"AccessDenied", rp.Permanent}, "28P01": {"AccessDenied", rp.Permanent},
	}
	for code, want := range tests {
		c, ok := rp.ClassifySQLState(code)
		check(t, "SQLSTATE "+code, c, ok, want)
	}
}

func TestClassifySQLite(t *testing.T) {
	t.Parallel()
	tests := map[int]expectation{
		0: {}, -1: {}, 27: {}, 28: {}, 100: {}, 101: {},
		5: {"AuroraTemporaryError", rp.Transient}, 261: {"AuroraTemporaryError", rp.Transient},
		773: {"AuroraTemporaryError", rp.Transient},
		517: {"ConcurrentModificationException", rp.Conflict}, 6: {"DeadlockException", rp.Conflict},
		262: {"DeadlockException", rp.Conflict},
		15:  {"AuroraTemporaryError", rp.Transient}, 10: {"StorageError", rp.Permanent},
		266: {"StorageError", rp.Permanent},
		2:   {"StorageError", rp.Permanent}, 11: {"StorageError", rp.Permanent}, 8: {"StorageError", rp.Permanent},
		13: {"StorageError", rp.Permanent}, 14: {"StorageError", rp.Permanent},
		19: {"DatabaseConstraintViolation", rp.Permanent}, 2067: {"DatabaseConstraintViolation", rp.Permanent},
		1: {"DatabaseConstraintViolation", rp.Permanent},
		9: {"OperationCancelled", rp.Permanent}, 23: {"AccessDenied", rp.Permanent},
	}
	for code, want := range tests {
		c, ok := rp.ClassifySQLite(code)
		check(t, fmt.Sprint("SQLite ", code), c, ok, want)
	}
}

func TestClassifyAWS(t *testing.T) {
	t.Parallel()
	tests := []struct {
		service, code string
		want          expectation
	}{
		{"S3", "SlowDown", expectation{"S3.SlowDown", rp.Transient}},
		{"", "SlowDown", expectation{"S3.SlowDown", rp.Transient}},
		{"S3", "ServiceUnavailable", expectation{"S3.ServiceUnavailable", rp.Transient}},
		{"S3", "InternalError", expectation{"S3.InternalError", rp.UnknownOutcome}},
		{"S3", "RequestTimeout", expectation{"TimeoutError", rp.Transient}},
		{"S3", "NoSuchKey", expectation{"CSVFileNotFound", rp.Permanent}},
		{"S3", "AccessDenied", expectation{"AccessDenied", rp.Permanent}},
		{"S3", "PreconditionFailed", expectation{"OptimisticLockException", rp.Conflict}},
		{"Lambda", "TooManyRequestsException", expectation{"Lambda.TooManyRequestsException", rp.Transient}},
		{"SQS", "TooManyRequestsException", expectation{"TooManyRequestsError", rp.Transient}},
		{"Lambda", "ServiceException", expectation{"Lambda.ServiceException", rp.UnknownOutcome}},
		{"DynamoDB", "ConditionalCheckFailedException", expectation{"OptimisticLockException", rp.Conflict}},
		{"DynamoDB", "ProvisionedThroughputExceededException", expectation{"TooManyRequestsError", rp.Transient}},
		{"SFN", "ValidationException", expectation{"InvalidInput", rp.Permanent}},
		{"S3", "NobodyKnows", expectation{}},
		{"", "", expectation{}},
	}
	for _, tt := range tests {
		c, ok := rp.ClassifyAWS(tt.service, tt.code)
		check(t, tt.service+" "+tt.code, c, ok, tt.want)
	}
}

func TestClassifyMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]expectation{
		"":                                    {},
		"something else":                      {},
		"read ECONNRESET":                     {"SocketTimeoutError", rp.UnknownOutcome},
		"connect ETIMEDOUT 10.0.0.1":          {"SocketTimeoutError", rp.UnknownOutcome},
		"connect ECONNREFUSED":                {"ConnectionTimeoutError", rp.Transient},
		"ENETUNREACH":                         {"ConnectionTimeoutError", rp.Transient},
		"socket hang up":                      {"SocketTimeoutError", rp.UnknownOutcome},
		"2026 Task timed out after 3 seconds": {"Sandbox.Timedout", rp.UnknownOutcome},
		"database is locked (5)":              {"AuroraTemporaryError", rp.Transient},
	}
	for message, want := range tests {
		c, ok := rp.ClassifyMessage(message)
		check(t, message, c, ok, want)
	}
}

// Errors with the methods that drivers' and SDKs' errors have.
type (
	sqlError  struct{ state string }
	apiError  struct{ code string }
	httpError struct {
		error
		status int
	}
	operationError struct {
		error
		service string
	}
)

func (e sqlError) Error() string         { return "connection refused, says SQLSTATE " + e.state }
func (e sqlError) SQLState() string      { return e.state }
func (e apiError) Error() string         { return "i/o timeout, says " + e.code }
func (e apiError) ErrorCode() string     { return e.code }
func (e httpError) HTTPStatusCode() int  { return e.status }
func (e httpError) Unwrap() error        { return e.error }
func (e operationError) Service() string { return e.service }
func (e operationError) Unwrap() error   { return e.error }
func wrapped(err error) error            { return fmt.Errorf("while working: %w", err) }
func s3(status int, err error) error     { return operationError{httpError{err, status}, "S3"} }
func dial(err error) error               { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
func read(err error) error               { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
func syscallError(e syscall.Errno) error { return os.NewSyscallError("call", e) }

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want expectation
	}{
		{"nil", nil, expectation{}},
		{"unknown", errors.New("what happened?"), expectation{}},
		{"message only", errors.New("write: broken pipe"), expectation{"SocketTimeoutError", rp.UnknownOutcome}},
		{"SQLSTATE wins over the message", wrapped(sqlError{"23505"}), expectation{"DatabaseConstraintViolation",
			rp.Permanent}},
		{"a SQLSTATE that says nothing keeps the message out", sqlError{"00000"}, expectation{}},
		{"AWS code", s3(503, apiError{"SlowDown"}), expectation{"S3.SlowDown", rp.Transient}},
		{"unknown AWS code, known status", s3(503, apiError{"Novelty"}), expectation{"S3.ServiceUnavailable",
			rp.Transient}},
		{"unknown AWS code keeps the message out", apiError{"Novelty"}, expectation{}},
		{"S3 HEAD answers a bare 404", s3(404, errors.New("bare")), expectation{"CSVFileNotFound", rp.Permanent}},
		{"S3 HEAD answers a bare 500", s3(500, errors.New("bare")), expectation{"S3.InternalError", rp.UnknownOutcome}},
		{"S3 HEAD answers a bare 429", s3(429, errors.New("bare")), expectation{"S3.SlowDown", rp.Transient}},
		{"bare status of another callee", httpError{errors.New("bare"), 503}, expectation{"ServiceUnavailableError",
			rp.Transient}},
		{"SDK error without a response", s3(0, context.DeadlineExceeded), expectation{"TimeoutError",
			rp.UnknownOutcome}},
		{"cancelled", wrapped(context.Canceled), expectation{"OperationCancelled", rp.Permanent}},
		{"deadline", wrapped(context.DeadlineExceeded), expectation{"TimeoutError", rp.UnknownOutcome}},
		{"refused", dial(syscallError(syscall.ECONNREFUSED)), expectation{"ConnectionTimeoutError", rp.Transient}},
		{"unreachable", dial(syscallError(syscall.ENETUNREACH)), expectation{"ConnectionTimeoutError", rp.Transient}},
		{"dial timeout", dial(os.ErrDeadlineExceeded), expectation{"ConnectionTimeoutError", rp.Transient}},
		{"read timeout", read(os.ErrDeadlineExceeded), expectation{"SocketTimeoutError", rp.UnknownOutcome}},
		{"reset", read(syscallError(syscall.ECONNRESET)), expectation{"SocketTimeoutError", rp.UnknownOutcome}},
		{"pipe", read(syscallError(syscall.EPIPE)), expectation{"SocketTimeoutError", rp.UnknownOutcome}},
		{"cut short", wrapped(io.ErrUnexpectedEOF), expectation{"SocketTimeoutError", rp.UnknownOutcome}},
		{"DNS", &net.DNSError{Err: "no such host", IsNotFound: true}, expectation{"ConnectionTimeoutError",
			rp.Transient}},
		{"certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
			expectation{"AccessDenied", rp.Permanent}},
		{"host name", wrapped(x509.HostnameError{Certificate: &x509.Certificate{}}), expectation{"AccessDenied",
			rp.Permanent}},
		{"not TLS", tls.RecordHeaderError{Msg: "plain"}, expectation{"InvalidInput", rp.Permanent}},
		{"TLS alert", tls.AlertError(40), expectation{"ConnectionTimeoutError", rp.Transient}},
		{"bad connection", driver.ErrBadConn, expectation{"DatabaseConnectionError", rp.Transient}},
		{"disk full", &os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, expectation{"StorageError",
			rp.Permanent}},
		{"open files", wrapped(syscall.EMFILE), expectation{"ConnectionTimeoutError", rp.Transient}},
		{"not permitted", &os.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, expectation{"AccessDenied",
			rp.Permanent}},
	}
	for _, tt := range tests {
		c, ok := rp.Classify(tt.err)
		check(t, tt.name, c, ok, tt.want)
	}
}

func TestEveryClassificationNamesAKnownError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		verify := func(c rp.Classification, ok bool) {
			_, hasPattern := c.Pattern()
			permanent := c.Class == rp.Permanent
			if ok && (hasPattern == permanent || rp.IsPermanent(c.Error) != permanent || c.Identity == "") {
				t.Fatalf("%v: pattern %v", c, hasPattern)
			}
			if !ok && c != (rp.Classification{}) {
				t.Fatalf("not classified, yet %v", c)
			}
		}
		verify(rp.ClassifyHTTP(rapid.IntRange(0, 700).Draw(t, "status")))
		verify(rp.ClassifyGRPC(rapid.Uint32Range(0, 20).Draw(t, "code")))
		verify(rp.ClassifySQLState(rapid.StringMatching(`[0-9A-Z]{5}`).Draw(t, "state")))
		verify(rp.ClassifySQLState(rapid.String().Draw(t, "text")))
		verify(rp.ClassifySQLite(rapid.Int().Draw(t, "result")))
		verify(rp.ClassifyMessage(rapid.String().Draw(t, "message")))
	})
}

func TestRetriable(t *testing.T) {
	t.Parallel()
	tests := map[rp.Class][2]bool{ // not idempotent, idempotent
		rp.Transient: {true, true}, rp.UnknownOutcome: {false, true}, rp.Conflict: {false, false},
		rp.Permanent: {false, false}, "": {false, false},
	}
	for class, want := range tests {
		c := rp.Classification{Class: class}
		if c.Retriable(false) != want[0] || c.Retriable(true) != want[1] {
			t.Errorf("%s: %v, %v, want %v", class, c.Retriable(false), c.Retriable(true), want)
		}
	}
}
