package retrypatterns

import "strconv"

// grpcRule is one gRPC status code; its index in grpcRules is the code's number.
type grpcRule struct {
	name    string
	verdict verdict
}

// grpcRules has an entry for each code; OK has no verdict.
var grpcRules = [...]grpcRule{
	0:  {"OK", verdict{}},
	1:  {"CANCELLED", verdict{OperationCancelled, Permanent}},
	2:  {"UNKNOWN", verdict{InternalServerError, UnknownOutcome}},
	3:  {"INVALID_ARGUMENT", verdict{InvalidInput, Permanent}},
	4:  {"DEADLINE_EXCEEDED", verdict{TimeoutError, UnknownOutcome}},
	5:  {"NOT_FOUND", verdict{InvalidInput, Permanent}},
	6:  {"ALREADY_EXISTS", verdict{InvalidInput, Permanent}},
	7:  {"PERMISSION_DENIED", verdict{AccessDenied, Permanent}},
	8:  {"RESOURCE_EXHAUSTED", verdict{TooManyRequestsError, Transient}},
	9:  {"FAILED_PRECONDITION", verdict{InvalidInput, Permanent}},
	10: {"ABORTED", verdict{ConcurrentModificationException, Conflict}},
	11: {"OUT_OF_RANGE", verdict{InvalidInput, Permanent}},
	12: {"UNIMPLEMENTED", verdict{InvalidInput, Permanent}},
	13: {"INTERNAL", verdict{InternalServerError, UnknownOutcome}},
	14: {"UNAVAILABLE", verdict{ServiceUnavailableError, Transient}},
	15: {"DATA_LOSS", verdict{StorageError, Permanent}},
	16: {"UNAUTHENTICATED", verdict{AccessDenied, Permanent}},
}

// ClassifyGRPC classifies a gRPC status by its number, so that callers need no gRPC library: uint32(status.Code(err)).
// It is false for OK and for numbers that are not codes.
func ClassifyGRPC(code uint32) (Classification, bool) {
	if code == 0 || code >= uint32(len(grpcRules)) {
		return Classification{}, false
	}
	rule := grpcRules[code]
	return rule.verdict.of("gRPC " + rule.name + " (" + strconv.Itoa(int(code)) + ")")
}
