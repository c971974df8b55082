package statemachine

import "stepback/retry"

// processUserRecords returns the distributed Map over the rows in S3. If it fails as a whole, the rows that were
// processed are still aggregated.
func (b builder) processUserRecords() object {
	o := object{
		{"Type", "Map"},
		{"Comment", "One child execution per batch of rows"},
		{"Label", ProcessUserRecords},
		{"ItemReader", object{
			{"Resource", "arn:aws:states:::s3:getObject"},
			{"ReaderConfig", object{{"InputType", "CSV"}, {"CSVHeaderLocation", "FIRST_ROW"}}},
			{"Parameters", object{
				{"Bucket.$", "$.validation.report.data.bucket"},
				{"Key.$", "$.validation.report.data.key"},
			}},
		}},
	}
	o = append(o, b.items()...)
	return append(o,
		member{"MaxConcurrency", b.Concurrency},
		member{"ToleratedFailurePercentage", b.ToleratedFailurePercentage},
		member{"ItemProcessor", b.childExecution()},
		member{"ResultWriter", b.results()},
		member{"ResultPath", "$.map"},
		catchAll("$.mapError", AggregateResults),
		member{"Next", AggregateResults},
	)
}

// results returns the ResultWriter of the Map. It writes only the outputs of successful batches, because the full
// records repeat the input with every row and would be a hundred times as large.
func (b builder) results() object {
	o := object{{"Resource", "arn:aws:states:::s3:putObject"}}
	if !b.single() {
		o = append(o, member{"WriterConfig", object{{"Transformation", "COMPACT"}, {"OutputType", "JSON"}}})
	}
	return append(o, member{"Parameters", object{{"Bucket.$", "$.results.bucket"}, {"Prefix.$", "$.results.prefix"}}})
}

// maxBatchBytes limits the size of batches with unusually long rows. The results of a batch repeat its failed rows,
// each with its error, and must fit into the 256 KiB that Step Functions passes from state to state.
const maxBatchBytes = 64 << 10

// items returns the input of child executions. For a batch, it contains the rows, and source and run once. For a
// single row, it contains the row, source and run.
func (b builder) items() object {
	row := object{{"row.$", "$$.Map.Item.Index"}, {"record.$", "$$.Map.Item.Value"}}
	shared := object{{"source.$", "$.source"}, {"run.$", "$.run"}, {"offset.$", "$.validation.report.part.offset"}}
	if b.single() {
		return object{{"ItemSelector", append(shared, row...)}}
	}
	return object{
		{"ItemSelector", row},
		{"ItemBatcher", object{
			{"MaxItemsPerBatch", b.BatchSize},
			{"MaxInputBytesPerBatch", maxBatchBytes},
			{"BatchInput", shared},
		}},
	}
}

// childExecution returns the state machine of the Map's child executions.
func (b builder) childExecution() object {
	kind := "STANDARD"
	if b.Express {
		kind = "EXPRESS"
	}
	config := member{"ProcessorConfig", object{{"Mode", "DISTRIBUTED"}, {"ExecutionType", kind}}}
	switch {
	case b.single():
		return append(object{config}, b.record()...)
	case b.Shape == Batch:
		return object{
			config,
			{"StartAt", processBatch},
			{"States", object{{processBatch, b.processBatch()}}},
		}
	}
	return object{
		config,
		{"StartAt", ApplyBatch},
		{"States", object{
			{ApplyBatch, b.applyBatch()},
			{splitBatch, splitRows()},
			{processOneByOne, b.processOneByOne()},
		}},
	}
}

// processBatch returns the state that applies the rows of a batch and keeps the data that AggregateResults needs:
// only the row numbers of rows that succeeded, and everything about rows that failed.
func (b builder) processBatch() object {
	return object{
		{"Type", "Map"},
		{"ItemsPath", "$.Items"},
		{"ItemSelector", object{
			{"source.$", "$.BatchInput.source"},
			{"run.$", "$.BatchInput.run"},
			{"offset.$", "$.BatchInput.offset"},
			{"row.$", "$$.Map.Item.Value.row"},
			{"record.$", "$$.Map.Item.Value.record"},
		}},
		{"MaxConcurrency", b.BatchConcurrency},
		{"ItemProcessor", b.rowProcessor()},
		{"ResultSelector", byOutcome()},
		{"End", true},
	}
}

// rowProcessor returns the inline state machine for one row of a batch.
func (b builder) rowProcessor() object {
	return append(object{{"ProcessorConfig", object{{"Mode", "INLINE"}}}}, b.record()...)
}

// byOutcome returns parameters that group the results of rows by outcome.
func byOutcome() object {
	return object{
		{"applied.$", "$[?(@.outcome == 'applied')].row"},
		{"alreadyApplied.$", "$[?(@.outcome == 'alreadyApplied')].row"},
		{"failed.$", "$[?(@.outcome == 'rejected' || @.outcome == 'deadLettered')]"},
	}
}

// record returns the state machine for one row: its input is {source, run, offset, row, record}, its output the row's
// result.
func (b builder) record() object {
	return object{
		{"StartAt", ProcessSingleUserRecord},
		{"States", object{
			{ProcessSingleUserRecord, b.processSingleUserRecord()},
			{rejectRecord, b.failedRecord("A business rule refuses the record", "rejected")},
			{deadLetterRecord, b.failedRecord("No retries are left, or a retry is not worthwhile", "deadLettered")},
		}},
	}
}

func (b builder) processSingleUserRecord() object {
	return b.lambda(ProcessSingleUserRecord, "Adds one row's counts to its user, exactly once",
		b.ProcessFunction,
		object{{"source.$", "$.source"}, {"run.$", "$.run"}, {"offset.$", "$.offset"}, {"row.$", "$.row"},
			{"record.$", "$.record"}},
		object{
			{"OutputPath", "$.Payload"},
			{"Catch", []object{
				catchRecord(retry.ValidationError, rejectRecord),
				catchRecord("States.ALL", deadLetterRecord),
			}},
			{"End", true},
		})
}

// catchRecord returns a catcher that stores data that only the failing state has: the number of attempts and the
// start time of the first one.
func catchRecord(errorName, next string) object {
	return object{
		{"ErrorEquals", []string{errorName}},
		{"ResultPath", "$.failure"},
		{"Assign", object{
			{"attempts.$", "States.MathAdd($$.State.RetryCount, 1)"},
			{"firstTime.$", "$$.State.EnteredTime"},
		}},
		{"Next", next},
	}
}

// failedRecord returns a state that converts a failure to the row's result. So the failure is written to S3 with
// the other results, and is not lost if the Map as a whole fails. In a batch, the result also names the child
// execution, because no surrounding data does.
func (b builder) failedRecord(comment, outcome string) object {
	result := object{
		{"outcome", outcome},
		{"row.$", "$.row"},
		{"record.$", "$.record"},
		{"error.$", "$.failure.Error"},
		{"cause.$", "$.failure.Cause"},
		{"attempts.$", "$attempts"},
		{"firstTime.$", "$firstTime"},
		{"lastTime.$", "$$.State.EnteredTime"},
	}
	if !b.single() {
		result = append(result, member{"child.$", "$$.Execution.Id"})
	}
	return object{{"Type", "Pass"}, {"Comment", comment}, {"Parameters", result}, {"End", true}}
}
