package stepfunctions

import (
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/executions"
)

// words are what recordings of the service say otherwise than its model: sizes of JSON are counted in bytes, and enums
// are listed in an order of their own.
var words = server.Words{
	Bytes: []string{"SensitiveData"},
	Enums: map[string][]string{
		"LogLevel":        {"ALL", "FATAL", "ERROR", "OFF"},
		"EncryptionType":  {"CUSTOMER_MANAGED_KMS_KEY", "AWS_OWNED_KEY"},
		"ExecutionStatus": {"SUCCEEDED", "TIMED_OUT", executions.PendingRedrive, "ABORTED", "FAILED", "RUNNING"},
	},
}
