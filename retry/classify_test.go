package retry_test

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

	"stepback/retry"
)

// expectation is a name and a class; the zero value means: not classified.
type expectation struct {
	name  string
	class retry.Class
}

func check(t *testing.T, what string, c retry.Classification, ok bool, want expectation) {
	t.Helper()
	if got := (expectation{c.Error, c.Class}); got != want || ok != (want != expectation{}) {
		t.Errorf("%s: got %v (%v), want %v", what, got, ok, want)
	}
}

func TestClassifyHTTP(t *testing.T) {
	t.Parallel()
	tests := map[int]expectation{
		0: {}, 200: {}, 302: {}, 399: {}, 600: {}, -1: {},
		400: {"InvalidInput", retry.Permanent}, 401: {"AccessDenied", retry.Permanent}, 403: {"AccessDenied", retry.Permanent},
		404: {"InvalidInput", retry.Permanent}, 405: {"InvalidInput", retry.Permanent}, 408: {"TimeoutError", retry.Transient},
		409: {"ConcurrentModificationException", retry.Conflict}, 412: {"OptimisticLockException", retry.Conflict},
		413: {"InvalidInput", retry.Permanent}, 421: {"ServiceUnavailableError", retry.Transient},
		422: {"InvalidInput", retry.Permanent},
		423: {"ConcurrentModificationException", retry.Conflict}, 425: {"ServiceUnavailableError", retry.Transient},
		429: {"TooManyRequestsError", retry.Transient}, 499: {"InvalidInput", retry.Permanent},
		500: {"InternalServerError", retry.UnknownOutcome}, 501: {"InvalidInput", retry.Permanent},
		502: {"ServiceUnavailableError", retry.Transient},
		503: {"ServiceUnavailableError", retry.Transient}, 504: {"TimeoutError", retry.UnknownOutcome},
		505: {"InvalidInput", retry.Permanent},
		511: {"AccessDenied", retry.Permanent}, 599: {"InternalServerError", retry.UnknownOutcome},
	}
	for status, want := range tests {
		c, ok := retry.ClassifyHTTP(status)
		check(t, fmt.Sprint("HTTP ", status), c, ok, want)
	}
}

func TestClassifyGRPC(t *testing.T) {
	t.Parallel()
	tests := map[uint32]expectation{
		0: {}, 17: {}, 4294967295: {},
		1: {"OperationCancelled", retry.Permanent}, 3: {"InvalidInput", retry.Permanent},
		4: {"TimeoutError", retry.UnknownOutcome},
		5: {"InvalidInput", retry.Permanent}, 7: {"AccessDenied", retry.Permanent}, 8: {"TooManyRequestsError", retry.Transient},
		10: {"ConcurrentModificationException", retry.Conflict}, 13: {"InternalServerError", retry.UnknownOutcome},
		14: {"ServiceUnavailableError", retry.Transient}, 15: {"StorageError", retry.Permanent},
		16: {"AccessDenied", retry.Permanent},
	}
	for code, want := range tests {
		c, ok := retry.ClassifyGRPC(code)
		check(t, fmt.Sprint("gRPC ", code), c, ok, want)
	}
}

func TestClassifySQLState(t *testing.T) {
	t.Parallel()
	tests := map[string]expectation{
		"": {}, "4000": {}, "400011": {}, "00000": {}, "01000": {}, "02000": {},
		"40001": {"ConcurrentModificationException", retry.Conflict}, "40P01": {"DeadlockException", retry.Conflict},
		"40002": {"DatabaseConstraintViolation", retry.Permanent}, "40003": {"AuroraTemporaryError", retry.UnknownOutcome},
		"08000": {"DatabaseConnectionError", retry.UnknownOutcome}, "08001": {"DatabaseConnectionError", retry.Transient},
		"08003": {"DatabaseConnectionError", retry.UnknownOutcome}, "08004": {"DatabaseConnectionError", retry.Transient},
		"08006": {"DatabaseConnectionError", retry.UnknownOutcome}, "08007": {"DatabaseConnectionError",
			retry.UnknownOutcome},
		"08P01": {"DatabaseConstraintViolation", retry.Permanent},
		"57P01": {"AuroraTemporaryError", retry.UnknownOutcome}, "57P02": {"AuroraTemporaryError", retry.UnknownOutcome},
		"57P03": {"AuroraTemporaryError", retry.Transient}, "57P04": {"DatabaseConstraintViolation", retry.Permanent},
		"57P05": {"DatabaseConnectionError", retry.Transient},
		"57014": {"OperationCancelled", retry.Permanent}, "53300": {"DatabaseConnectionError", retry.Transient},
		"53200": {"AuroraTemporaryError", retry.Transient}, "53100": {"StorageError", retry.Permanent},
		"53400": {"StorageError", retry.Permanent},
		"55P03": {"ConcurrentModificationException", retry.Conflict}, "55006": {"ConcurrentModificationException",
			retry.Conflict},
		"25006": {"AuroraTemporaryError", retry.Transient}, "25P02": {"DatabaseConstraintViolation", retry.Permanent},
		"58000": {"AuroraTemporaryError", retry.UnknownOutcome}, "58030": {"AuroraTemporaryError", retry.UnknownOutcome},
		"XX000": {"StorageError", retry.Permanent}, "22003": {"DatabaseConstraintViolation", retry.Permanent},
		"23505": {"DatabaseConstraintViolation", retry.Permanent}, "42601": {"DatabaseConstraintViolation", retry.Permanent},
		"42501": {"AccessDenied", retry.Permanent}, "28P01": {"AccessDenied", retry.Permanent},
	}
	for code, want := range tests {
		c, ok := retry.ClassifySQLState(code)
		check(t, "SQLSTATE "+code, c, ok, want)
	}
}

func TestClassifySQLite(t *testing.T) {
	t.Parallel()
	tests := map[int]expectation{
		0: {}, -1: {}, 27: {}, 28: {}, 100: {}, 101: {},
		5: {"AuroraTemporaryError", retry.Transient}, 261: {"AuroraTemporaryError", retry.Transient},
		773: {"AuroraTemporaryError", retry.Transient},
		517: {"ConcurrentModificationException", retry.Conflict}, 6: {"DeadlockException", retry.Conflict},
		262: {"DeadlockException", retry.Conflict},
		15:  {"AuroraTemporaryError", retry.Transient}, 10: {"StorageError", retry.Permanent},
		266: {"StorageError", retry.Permanent},
		2:   {"StorageError", retry.Permanent}, 11: {"StorageError", retry.Permanent}, 8: {"StorageError", retry.Permanent},
		13: {"StorageError", retry.Permanent}, 14: {"StorageError", retry.Permanent},
		19: {"DatabaseConstraintViolation", retry.Permanent}, 2067: {"DatabaseConstraintViolation", retry.Permanent},
		1: {"DatabaseConstraintViolation", retry.Permanent},
		9: {"OperationCancelled", retry.Permanent}, 23: {"AccessDenied", retry.Permanent},
	}
	for code, want := range tests {
		c, ok := retry.ClassifySQLite(code)
		check(t, fmt.Sprint("SQLite ", code), c, ok, want)
	}
}

func TestClassifyAWS(t *testing.T) {
	t.Parallel()
	tests := []struct {
		service, code string
		want          expectation
	}{
		{"S3", "SlowDown", expectation{"S3.SlowDown", retry.Transient}},
		{"", "SlowDown", expectation{"S3.SlowDown", retry.Transient}},
		{"S3", "ServiceUnavailable", expectation{"S3.ServiceUnavailable", retry.Transient}},
		{"S3", "InternalError", expectation{"S3.InternalError", retry.UnknownOutcome}},
		{"S3", "RequestTimeout", expectation{"TimeoutError", retry.Transient}},
		{"S3", "NoSuchKey", expectation{"InvalidInput", retry.Permanent}},
		{"S3", "AccessDenied", expectation{"AccessDenied", retry.Permanent}},
		{"S3", "PreconditionFailed", expectation{"OptimisticLockException", retry.Conflict}},
		{"Lambda", "TooManyRequestsException", expectation{"Lambda.TooManyRequestsException", retry.Transient}},
		{"SQS", "TooManyRequestsException", expectation{"TooManyRequestsError", retry.Transient}},
		{"Lambda", "ServiceException", expectation{"Lambda.ServiceException", retry.UnknownOutcome}},
		{"DynamoDB", "ConditionalCheckFailedException", expectation{"OptimisticLockException", retry.Conflict}},
		{"DynamoDB", "ProvisionedThroughputExceededException", expectation{"TooManyRequestsError", retry.Transient}},
		{"SFN", "ValidationException", expectation{"InvalidInput", retry.Permanent}},
		{"S3", "NobodyKnows", expectation{}},
		{"", "", expectation{}},
	}
	for _, tt := range tests {
		c, ok := retry.ClassifyAWS(tt.service, tt.code)
		check(t, tt.service+" "+tt.code, c, ok, tt.want)
	}
}

func TestClassifyMessage(t *testing.T) {
	t.Parallel()
	tests := map[string]expectation{
		"":                                    {},
		"something else":                      {},
		"read ECONNRESET":                     {"SocketTimeoutError", retry.UnknownOutcome},
		"connect ETIMEDOUT 10.0.0.1":          {"SocketTimeoutError", retry.UnknownOutcome},
		"connect ECONNREFUSED":                {"ConnectionTimeoutError", retry.Transient},
		"ENETUNREACH":                         {"ConnectionTimeoutError", retry.Transient},
		"socket hang up":                      {"SocketTimeoutError", retry.UnknownOutcome},
		"2026 Task timed out after 3 seconds": {"Sandbox.Timedout", retry.UnknownOutcome},
		"database is locked (5)":              {"AuroraTemporaryError", retry.Transient},
	}
	for message, want := range tests {
		c, ok := retry.ClassifyMessage(message)
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
		{"message only", errors.New("write: broken pipe"), expectation{"SocketTimeoutError", retry.UnknownOutcome}},
		{"SQLSTATE wins over the message", wrapped(sqlError{"23505"}), expectation{"DatabaseConstraintViolation",
			retry.Permanent}},
		{"a SQLSTATE that says nothing keeps the message out", sqlError{"00000"}, expectation{}},
		{"AWS code", s3(503, apiError{"SlowDown"}), expectation{"S3.SlowDown", retry.Transient}},
		{"unknown AWS code, known status", s3(503, apiError{"Novelty"}), expectation{"S3.ServiceUnavailable",
			retry.Transient}},
		{"unknown AWS code keeps the message out", apiError{"Novelty"}, expectation{}},
		{"S3 HEAD answers a bare 404", s3(404, errors.New("bare")), expectation{"InvalidInput", retry.Permanent}},
		{"S3 HEAD answers a bare 500", s3(500, errors.New("bare")), expectation{"S3.InternalError", retry.UnknownOutcome}},
		{"S3 HEAD answers a bare 429", s3(429, errors.New("bare")), expectation{"S3.SlowDown", retry.Transient}},
		{"bare status of another callee", httpError{errors.New("bare"), 503}, expectation{"ServiceUnavailableError",
			retry.Transient}},
		{"SDK error without a response", s3(0, context.DeadlineExceeded), expectation{"TimeoutError",
			retry.UnknownOutcome}},
		{"cancelled", wrapped(context.Canceled), expectation{"OperationCancelled", retry.Permanent}},
		{"deadline", wrapped(context.DeadlineExceeded), expectation{"TimeoutError", retry.UnknownOutcome}},
		{"refused", dial(syscallError(syscall.ECONNREFUSED)), expectation{"ConnectionTimeoutError", retry.Transient}},
		{"unreachable", dial(syscallError(syscall.ENETUNREACH)), expectation{"ConnectionTimeoutError", retry.Transient}},
		{"dial timeout", dial(os.ErrDeadlineExceeded), expectation{"ConnectionTimeoutError", retry.Transient}},
		{"read timeout", read(os.ErrDeadlineExceeded), expectation{"SocketTimeoutError", retry.UnknownOutcome}},
		{"reset", read(syscallError(syscall.ECONNRESET)), expectation{"SocketTimeoutError", retry.UnknownOutcome}},
		{"pipe", read(syscallError(syscall.EPIPE)), expectation{"SocketTimeoutError", retry.UnknownOutcome}},
		{"cut short", wrapped(io.ErrUnexpectedEOF), expectation{"SocketTimeoutError", retry.UnknownOutcome}},
		{"DNS", &net.DNSError{Err: "no such host", IsNotFound: true}, expectation{"ConnectionTimeoutError",
			retry.Transient}},
		{"certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
			expectation{"AccessDenied", retry.Permanent}},
		{"host name", wrapped(x509.HostnameError{Certificate: &x509.Certificate{}}), expectation{"AccessDenied",
			retry.Permanent}},
		{"not TLS", tls.RecordHeaderError{Msg: "plain"}, expectation{"InvalidInput", retry.Permanent}},
		{"TLS alert", tls.AlertError(40), expectation{"ConnectionTimeoutError", retry.Transient}},
		{"bad connection", driver.ErrBadConn, expectation{"DatabaseConnectionError", retry.Transient}},
		{"disk full", &os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, expectation{"StorageError",
			retry.Permanent}},
		{"open files", wrapped(syscall.EMFILE), expectation{"ConnectionTimeoutError", retry.Transient}},
		{"not permitted", &os.PathError{Op: "open", Path: "f", Err: syscall.EACCES}, expectation{"AccessDenied",
			retry.Permanent}},
	}
	for _, tt := range tests {
		c, ok := retry.Classify(tt.err)
		check(t, tt.name, c, ok, tt.want)
	}
}

// Statuses as gRPC's errors have them: the result's type is unknown here, its code a type of its own.
type (
	grpcCode   uint32
	grpcStatus struct{ code grpcCode }
	grpcError  struct{ status *grpcStatus }
	notGRPC    struct{ error }
)

func (s *grpcStatus) Code() grpcCode {
	if s == nil {
		return 0
	}
	return s.code
}
func (e grpcError) Error() string           { return "rpc error: connection refused" }
func (e grpcError) GRPCStatus() *grpcStatus { return e.status }
func (notGRPC) GRPCStatus() error           { return nil }

// Errors that say themselves what they are, or that they do not know.
type classified struct {
	error
	known bool
}

func (c classified) Unwrap() error { return c.error }
func (c classified) ClassifyRetry() (retry.Classification, bool) {
	return retry.Classification{Error: "CardServiceBusy", Class: retry.Conflict, Identity: "its own word"}, c.known
}

type coder int // Code in a package that is not SQLite's

func (c coder) Error() string { return "unheard of" }
func (c coder) Code() int     { return int(c) }

func TestClassifyByMethods(t *testing.T) {
	t.Parallel()
	unavailable := grpcError{&grpcStatus{14}}
	tests := []struct {
		name string
		err  error
		want expectation
	}{
		{"gRPC status", unavailable, expectation{"ServiceUnavailableError", retry.Transient}},
		{"wrapped", wrapped(unavailable), expectation{"ServiceUnavailableError", retry.Transient}},
		{"joined", errors.Join(errors.New("first"), wrapped(grpcError{&grpcStatus{7}})),
			expectation{"AccessDenied", retry.Permanent}},
		{"a status that is OK keeps the message out", grpcError{&grpcStatus{0}}, expectation{}},
		{"no status keeps the message out, too", grpcError{}, expectation{}},
		{"another GRPCStatus", notGRPC{errors.New("broken pipe")}, expectation{"SocketTimeoutError",
			retry.UnknownOutcome}},
		{"a SQLSTATE before a gRPC status", errors.Join(unavailable, sqlError{"40P01"}),
			expectation{"DeadlockException", retry.Conflict}},
		{"an error's own word is the first", wrapped(classified{sqlError{"23505"}, true}),
			expectation{"CardServiceBusy", retry.Conflict}},
		{"an error that does not know itself", wrapped(classified{sqlError{"23505"}, false}),
			expectation{"DatabaseConstraintViolation", retry.Permanent}},
		{"Code outside of SQLite's packages", coder(5), expectation{}},
	}
	for _, tt := range tests {
		c, ok := retry.Classify(tt.err)
		check(t, tt.name, c, ok, tt.want)
	}
}

func TestEveryClassificationNamesAKnownError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		verify := func(c retry.Classification, ok bool) {
			permanent := c.Class == retry.Permanent
			if ok && (retry.IsPermanent(c.Error) != permanent || c.Error == "" || c.Identity == "") {
				t.Fatalf("%v: permanent %v", c, retry.IsPermanent(c.Error))
			}
			if !ok && c != (retry.Classification{}) {
				t.Fatalf("not classified, yet %v", c)
			}
		}
		verify(retry.ClassifyHTTP(rapid.IntRange(0, 700).Draw(t, "status")))
		verify(retry.ClassifyGRPC(rapid.Uint32Range(0, 20).Draw(t, "code")))
		verify(retry.ClassifySQLState(rapid.StringMatching(`[0-9A-Z]{5}`).Draw(t, "state")))
		verify(retry.ClassifySQLState(rapid.String().Draw(t, "text")))
		verify(retry.ClassifySQLite(rapid.Int().Draw(t, "result")))
		verify(retry.ClassifyMessage(rapid.String().Draw(t, "message")))
	})
}

func TestRetriable(t *testing.T) {
	t.Parallel()
	tests := map[retry.Class][2]bool{ // not idempotent, idempotent
		retry.Transient: {true, true}, retry.UnknownOutcome: {false, true}, retry.Conflict: {false, false},
		retry.Permanent: {false, false}, "": {false, false},
	}
	for class, want := range tests {
		c := retry.Classification{Class: class}
		if c.Retriable(false) != want[0] || c.Retriable(true) != want[1] {
			t.Errorf("%s: %v, %v, want %v", class, c.Retriable(false), c.Retriable(true), want)
		}
	}
}
