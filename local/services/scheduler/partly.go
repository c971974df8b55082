package scheduler

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateSchedule": "targets are queues, topics, functions, state machines, buses, log groups and universal " +
		"targets; KMS keys are not used, roles only with `serve --enforce-iam`",
	"UpdateSchedule": "as CreateSchedule",
}
