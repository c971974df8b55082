package retry

import (
	"errors"
	"reflect"
	"strings"
)

// Classified is implemented by errors that know their own classification. [Classify] asks them first. If ok is
// false, the error does not know, and is classified like any other.
type Classified interface {
	error
	ClassifyRetry() (c Classification, ok bool)
}

// Classify classifies any Go error, wrapped or not, by the best identity that it carries. It looks for identities
// in this order: the classification of a [Classified] error, a SQLSTATE, an AWS error code, an HTTP status, a gRPC
// status, a result code of SQLite, and an error value of the standard library (context, net, crypto/tls, syscall,
// io, database/sql). Only if the error has no code at all, it uses the message.
//
// Drivers and SDKs are recognised by the methods of their errors, not by their packages: SQLState (pgx, lib/pq),
// ErrorCode and HTTPStatusCode (AWS SDK), GRPCStatus (gRPC). The method of modernc.org/sqlite's errors, Code, has
// too common a name, so it counts only for a type whose package has "sqlite" in its path.
//
// ok is false for nil and for errors of which nothing is known; treat those as permanent to be careful.
func Classify(err error) (c Classification, ok bool) {
	if err == nil {
		return Classification{}, false
	}
	if known, is := errors.AsType[Classified](err); is {
		if c, ok := known.ClassifyRetry(); ok {
			return c, true
		}
	}
	coded := false
	for _, recognise := range []func(error) (c Classification, ok, hasCode bool){byState, byAWS, byGRPC, bySQLite} {
		c, ok, hasCode := recognise(err)
		if ok {
			return c, true
		}
		coded = coded || hasCode
	}
	if c, ok := classifyNetwork(err); ok {
		return c, true
	}
	if coded {
		return Classification{}, false // it has a code, so its message is not considered
	}
	return ClassifyMessage(err.Error())
}

// Methods by which errors of drivers and SDKs are recognised.
type (
	sqlStater interface { // pgx, lib/pq
		error
		SQLState() string
	}
	awsCoder interface { // smithy-go's APIError
		error
		ErrorCode() string
	}
	awsOperation interface { // smithy-go's OperationError
		error
		Service() string
	}
	httpStater interface { // smithy-go's http.ResponseError
		error
		HTTPStatusCode() int
	}
	sqliteCoder interface { // modernc.org/sqlite
		error
		Code() int
	}
)

func byState(err error) (c Classification, ok, hasCode bool) {
	state, hasCode := errors.AsType[sqlStater](err)
	if hasCode {
		c, ok = ClassifySQLState(state.SQLState())
	}
	return c, ok, hasCode
}

func byAWS(err error) (c Classification, ok, hasCode bool) {
	coder, hasCode := errors.AsType[awsCoder](err)
	c, ok = classifyAWSError(err, coder)
	return c, ok, hasCode
}

func bySQLite(err error) (c Classification, ok, hasCode bool) {
	coder, found := errors.AsType[sqliteCoder](err)
	if !found || !strings.Contains(packageOf(coder), "sqlite") {
		return Classification{}, false, false
	}
	c, ok = ClassifySQLite(coder.Code())
	return c, ok, true
}

func packageOf(err error) string {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}

// classifyAWSError classifies an error by its AWS error code if coder is set, and then by the HTTP status.
func classifyAWSError(err error, coder awsCoder) (Classification, bool) {
	service := ""
	if operation, ok := errors.AsType[awsOperation](err); ok {
		service = operation.Service()
	}
	if coder != nil {
		if c, ok := ClassifyAWS(service, coder.ErrorCode()); ok {
			return c, true
		}
	}
	if response, ok := errors.AsType[httpStater](err); ok {
		return classifyAWSStatus(service, response.HTTPStatusCode())
	}
	return Classification{}, false
}
