package statemachine

// applyBatch applies all rows of a batch in one invocation. Its answer has the rows by outcome, and under oneByOne
// those that it leaves: the answer is all that goes on, without the rows themselves.
func (b builder) applyBatch() object {
	return b.lambda(ApplyBatch, "Adds the counts of all rows to their users in one transaction, exactly once",
		b.ProcessFunction,
		object{{"source.$", "$.BatchInput.source"}, {"run.$", "$.BatchInput.run"}, {"items.$", "$.Items"}},
		object{
			{"OutputPath", "$.Payload"},
			catchAll("$.failure", splitBatch),
			{"Next", processOneByOne},
		})
}

// splitRows gives a batch that failed as a whole the form of an answer that leaves all its rows.
func splitRows() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "The batch fails as a whole: its rows go one by one"},
		{"Parameters", object{
			{"applied", []int{}}, {"alreadyApplied", []int{}}, {"rejected", []int{}},
			{"oneByOne.$", "$.Items"},
		}},
		{"Next", processOneByOne},
	}
}

// processOneByOne applies the rows that a batch has left, each with the Retry of its own state, and puts their results
// in their place. Mostly there are none.
func (b builder) processOneByOne() object {
	return object{
		{"Type", "Map"},
		{"ItemsPath", "$.oneByOne"},
		{"ItemSelector", object{
			{"source.$", "$$.Execution.Input.BatchInput.source"},
			{"run.$", "$$.Execution.Input.BatchInput.run"},
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
