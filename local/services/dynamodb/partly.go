package dynamodb

// partly maps operations that are supported in part to what they lack.
var partly = map[string]string{
	"CreateTable":               "encryption, class, capacity and warm throughput are stored without effect; no Kinesis streams",
	"DescribeContinuousBackups": "returns only the setting; there are no backups",
	"DescribeLimits":            "returns the limits of a new account; nothing is throttled",
	"PutResourcePolicy":         "policies of tables are evaluated only with `serve --enforce-iam`",
	"UpdateContinuousBackups":   "stored without effect",
	"UpdateTable":               "no replicas; encryption, class and capacity are stored without effect",
}
