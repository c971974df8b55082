package scheduler

// partly says what operations that are served do not do.
var partly = map[string]string{
	"CreateSchedule": "targets are queues, topics, functions, state machines, buses, log groups and universal " +
		"targets; KMS keys are not used, roles with `serve --enforce-iam` only",
	"UpdateSchedule": "as CreateSchedule",
}
