package statemachine

// notify returns a state that publishes a message to the topic. The message describes what has already happened, so
// the execution continues even if publishing fails.
func (b builder) notify(state, subject string, message object, next string) object {
	return b.task(state, "Publishes the result of the import, which a failed notification does not change",
		"arn:aws:states:::sns:publish",
		object{{"TopicArn", b.TopicARN}, {"Subject", subject}, {"Message", message}},
		object{
			{"ResultPath", nil},
			catchAll("$.notifyError", next),
			{"Next", next},
		})
}

func (b builder) notifyValidationFailure() object {
	return b.notify(NotifyValidationFailure, "CSV import rejected", object{
		{"status", "REJECTED"},
		{"source.$", "$.source"},
		{"execution.$", "$.execution"},
		{"error.$", "$.error"},
		{"validation.$", "$.validation"},
	}, importRejected)
}

func (b builder) notifyCompletion() object {
	return b.notify(NotifyCompletion, "CSV import succeeded", object{
		{"status", "SUCCEEDED"},
		{"source.$", "$.source"},
		{"execution.$", "$.execution"},
		{"summary.$", "$.aggregation.summary"},
	}, importSucceeded)
}

func (b builder) notifyFailure() object {
	return b.notify(NotifyFailure, "CSV import failed", object{
		{"status", "FAILED"},
		{"source.$", "$.source"},
		{"execution.$", "$.execution"},
		{"error.$", "$.error"},
		{"mapError.$", "$.mapError"},
		{"aggregation.$", "$.aggregation"},
	}, importFailed)
}

// isPart returns the rule that the file is imported together with others, whose summary is published instead.
func isPart() object {
	return object{{"Variable", "$$.Execution.Input." + PartOf}, {"IsPresent", true}}
}

// unlessPart returns a state that transitions to end if the file is imported together with others, and otherwise to
// notify.
func unlessPart(end, notify string) object {
	return object{
		{"Type", "Choice"},
		{"Choices", []object{append(isPart(), member{"Next", end})}},
		{"Default", notify},
	}
}
