package events

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateConnection": "no VPC connectivity (`ConnectivityParameters`); credentials are encrypted, and Secrets " +
		"Manager does not list them",
	"PutPermission": "evaluated only with `serve --enforce-iam`",
	"PutRule":       "the rule's own `RoleArn` is not used; the complexity of wildcards is limited for each of them alone",
	"PutTargets": "targets are queues, topics, functions, state machines, log groups, buses and API destinations; " +
		"roles are evaluated only with `serve --enforce-iam`",
	"UpdateConnection": "as CreateConnection",
}
