package dynamodb

// partly describes what supported operations do not do.
var partly = map[string]string{
	"CreateTable": "no index keys of several attributes; encryption, class and capacity are kept without effect; no " +
		"Kinesis streams, no warm throughput",
	"DescribeContinuousBackups": "the setting only: there are no backups",
	"DescribeLimits":            "the limits of a new account; nothing is throttled",
	"PutResourcePolicy":         "kept, and evaluated for nobody",
	"UpdateContinuousBackups":   "kept without effect",
	"UpdateTable":               "no replicas; encryption, class and capacity are kept without effect",
}
