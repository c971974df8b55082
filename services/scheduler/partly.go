package scheduler

// partly says what operations that are served do not do.
var partly = map[string]string{
	"CreateSchedule": "targets are queues, topics, functions, state machines, buses, log groups and universal " +
		"targets; KMS keys and roles are not used",
	"UpdateSchedule": "as CreateSchedule",
}
