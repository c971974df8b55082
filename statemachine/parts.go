package statemachine

// validateRanges returns the distributed Map over the ranges of a large file. Each range is validated and written as a
// part that ProcessUserRecords reads; ValidateCSVFile joins the reports of all ranges. See decision 068.
func (b builder) validateRanges() object {
	return object{
		{"Type", "Map"},
		{"Comment", "One child execution per range of a large file"},
		{"Label", ValidateRanges},
		{"ItemReader", object{
			{"Resource", "arn:aws:states:::s3:getObject"},
			{"ReaderConfig", object{{"InputType", "JSON"}}},
			{"Parameters", object{
				{"Bucket.$", "$.validation.report.split.ranges.bucket"},
				{"Key.$", "$.validation.report.split.ranges.key"},
			}},
		}},
		{"ItemSelector", object{
			{"source.$", "$.source"},
			{"work.$", "$.work"},
			{"range.$", "$$.Map.Item.Value"},
		}},
		{"MaxConcurrency", b.RangeConcurrency},
		{"ItemProcessor", object{
			{"ProcessorConfig", object{{"Mode", "DISTRIBUTED"}, {"ExecutionType", "STANDARD"}}},
			{"StartAt", ValidateRange},
			{"States", object{{ValidateRange, b.validateRange()}}},
		}},
		{"ResultPath", nil},
		catchAll("$.error", validationFailure),
		{"Next", ValidateCSVFile},
	}
}

func (b builder) validateRange() object {
	return b.lambda(ValidateRange, "Validates a range of a large file and writes it as a part",
		b.ValidateFunction,
		object{
			{"source.$", "$.source"},
			{"workBucket.$", "$.work.bucket"},
			{"workPrefix.$", "$.work.prefix"},
			{"range.$", "$.range"},
		},
		object{{"OutputPath", "$.Payload"}, {"End", true}})
}

// nextPart returns the state that makes the next part of a large file the current one. It has the members of
// initialize.
func nextPart() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "Takes the next part of a large file"},
		{"Parameters", object{
			{"source.$", "$.source"},
			{"execution.$", "$.execution"},
			{"startTime.$", "$.startTime"},
			{"run.$", "$.run"},
			{"work.$", "$.work"},
			{"results.$", "$.aggregation.summary.next.results"},
			{"output.$", "$.output"},
			{"validation", object{{"report.$", "$.aggregation.summary.next.report"}}},
			{"mapError", nil},
			{"aggregation", nil},
		}},
		{"Next", ProcessUserRecords},
	}
}
