package stepfunctions

import (
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/executions"
)

// words lists where the service, according to recordings, differs from its model: sizes of JSON are counted in bytes,
// and enum values are listed in a different order.
var words = server.Words{
	Bytes: []string{"SensitiveData"},
	Enums: map[string][]string{
		"LogLevel":        {"ALL", "FATAL", "ERROR", "OFF"},
		"EncryptionType":  {"CUSTOMER_MANAGED_KMS_KEY", "AWS_OWNED_KEY"},
		"ExecutionStatus": {"SUCCEEDED", "TIMED_OUT", executions.PendingRedrive, "ABORTED", "FAILED", "RUNNING"},
	},
}
