package events

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateConnection": "no connectivity by VPC (`ConnectivityParameters`); credentials are encrypted, and not " +
		"listed by Secrets Manager",
	"PutPermission": "kept, and evaluated for nobody",
	"PutRule":       "its own `RoleArn` is not used; how complex a wildcard may be is not judged",
	"PutTargets": "targets are queues, topics, functions, state machines, log groups, buses and API destinations; " +
		"roles count with `serve --enforce-iam` only",
	"UpdateConnection": "as CreateConnection",
}
