package events

// partly says what operations that are served do not do.
var partly = map[string]string{
	"CreateConnection": "no connectivity by VPC (`ConnectivityParameters`); credentials are encrypted, and not " +
		"listed by Secrets Manager",
	"PutPermission": "kept, and evaluated for nobody",
	"PutRule":       "roles are not used; how complex a wildcard may be is not judged",
	"PutTargets": "targets are queues, topics, functions, state machines, log groups, buses and API destinations; " +
		"roles are not used",
	"UpdateConnection": "as CreateConnection",
}
