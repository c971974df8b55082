package statemachine

// applyBatch returns the state that applies all rows of a batch in one invocation. Its result contains the rows by
// outcome; oneByOne contains the rows that were not applied. Only the result is passed on, without the rows
// themselves.
func (b builder) applyBatch() object {
	return b.lambda(ApplyBatch, "Adds the counts of all rows to their users in one transaction, exactly once",
		b.ProcessFunction,
		object{{"source.$", "$.BatchInput.source"}, {"run.$", "$.BatchInput.run"}, {"offset.$", "$.BatchInput.offset"},
			{"items.$", "$.Items"}},
		object{
			{"OutputPath", "$.Payload"},
			catchAll("$.failure", splitBatch),
			{"Next", processOneByOne},
		})
}

// splitRows returns the state that handles a batch that failed as a whole: its result lists all rows under
// oneByOne.
func splitRows() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "The batch failed as a whole: its rows are processed one by one"},
		{"Parameters", object{
			{"applied", []int{}}, {"alreadyApplied", []int{}}, {"rejected", []int{}},
			{"oneByOne.$", "$.Items"},
		}},
		{"Next", processOneByOne},
	}
}

// processOneByOne returns the state that applies the rows under oneByOne, each with the Retry of its state, and
// replaces them by their results. Usually there are none.
func (b builder) processOneByOne() object {
	return object{
		{"Type", "Map"},
		{"ItemsPath", "$.oneByOne"},
		{"ItemSelector", object{
			{"source.$", "$$.Execution.Input.BatchInput.source"},
			{"run.$", "$$.Execution.Input.BatchInput.run"},
			{"offset.$", "$$.Execution.Input.BatchInput.offset"},
			{"row.$", "$$.Map.Item.Value.row"},
			{"record.$", "$$.Map.Item.Value.record"},
		}},
		{"MaxConcurrency", b.BatchConcurrency},
		{"ItemProcessor", b.rowProcessor()},
		{"ResultSelector", byOutcome()},
		{"ResultPath", "$.oneByOne"},
		{"End", true},
	}
}
