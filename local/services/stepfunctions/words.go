package stepfunctions

import (
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/executions"
	"stepback/local/services/stepfunctions/teststate"
)

// words lists where the service differs from its model, according to recordings. It counts the size of JSON in
// bytes, and lists some enum values in a different order.
var words = server.Words{
	Bytes: teststate.Bytes,
	Enums: map[string][]string{
		"LogLevel":        {"ALL", "FATAL", "ERROR", "OFF"},
		"EncryptionType":  {"CUSTOMER_MANAGED_KMS_KEY", "AWS_OWNED_KEY"},
		"ExecutionStatus": {"SUCCEEDED", "TIMED_OUT", executions.PendingRedrive, "ABORTED", "FAILED", "RUNNING"},
	},
}
