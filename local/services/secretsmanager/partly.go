package secretsmanager

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateSecret":           "no replicas",
	"PutResourcePolicy":      "evaluated only with `serve --enforce-iam`",
	"RotateSecret":           "rotates at once; the schedule is stored, but starts no rotation",
	"ValidateResourcePolicy": "checks only the form of the document",
}
