package secretsmanager

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateSecret":           "no replicas",
	"PutResourcePolicy":      "kept, and evaluated for nobody",
	"RotateSecret":           "begins when it is asked for: the schedule is kept, and begins none",
	"ValidateResourcePolicy": "checks the form of the document",
}
