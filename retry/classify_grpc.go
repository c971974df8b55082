package retry

import (
	"reflect"
	"strconv"
)

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

// ClassifyGRPC classifies a gRPC status by its number, so that callers need no gRPC library: uint32(st.Code()) of a
// status st. [Classify] recognises an error that has a status.
// It is false for OK and for numbers that are not codes.
func ClassifyGRPC(code uint32) (Classification, bool) {
	if code == 0 || code >= uint32(len(grpcRules)) {
		return Classification{}, false
	}
	rule := grpcRules[code]
	return rule.verdict.of("gRPC " + rule.name + " (" + strconv.Itoa(int(code)) + ")")
}

// byGRPC classifies an error that has a method GRPCStatus. The method's result has a type of the gRPC library,
// which this package cannot name, so byGRPC calls it and its method Code by reflection.
func byGRPC(err error) (c Classification, ok, hasCode bool) {
	code, hasCode := grpcCode(err)
	if hasCode {
		c, ok = ClassifyGRPC(code)
	}
	return c, ok, hasCode
}

// grpcCode returns the code of the first status in err's tree.
func grpcCode(err error) (code uint32, ok bool) {
	status, ok := callNiladic(reflect.ValueOf(err).MethodByName("GRPCStatus"))
	if ok {
		if number, ok := callNiladic(status.MethodByName("Code")); ok && number.Kind() == reflect.Uint32 {
			return uint32(number.Uint()), true
		}
	}
	switch wrapper := err.(type) { //nolint:errorlint // this is the walk that errors.As does
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			return grpcCode(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if code, ok := grpcCode(inner); ok {
				return code, true
			}
		}
	}
	return 0, false
}

// callNiladic calls a method that has one result and no parameters. ok is false for any other f.
func callNiladic(f reflect.Value) (result reflect.Value, ok bool) {
	if !f.IsValid() || f.Type().NumIn() != 0 || f.Type().NumOut() != 1 {
		return reflect.Value{}, false
	}
	result = f.Call(nil)[0]
	return result, result.Kind() != reflect.Interface || !result.IsNil()
}
