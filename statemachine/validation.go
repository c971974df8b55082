package statemachine

import "stepback/retry"

// initialize returns the state that shapes the execution's input {bucket, key, etag}. Every field that a later state
// may set starts as null, because a path to a missing field would fail the execution.
func (b builder) initialize() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "Gives every later state the same fields to read"},
		{"Parameters", object{
			{"source", object{{"bucket.$", "$.bucket"}, {"key.$", "$.key"}, {"etag.$", "$.etag"}}},
			{"execution.$", "$$.Execution.Name"},
			{"startTime.$", "$$.Execution.StartTime"},
			{"run.$", "States.Format('{} {}', $$.Execution.Name, $$.Execution.StartTime)"},
			{"work", b.place(WorkPrefix(""))},
			{"results", b.place("results/")},
			{"output", b.place(OutputPrefix(""))},
			{"validation", nil},
			{"mapError", nil},
			{"aggregation", nil},
		}},
		{"Next", ValidateCSVFile},
	}
}

// place returns a prefix of the result bucket that only this execution uses.
func (b builder) place(folder string) object {
	return object{{"bucket", b.ResultBucket}, {"prefix.$", "States.Format('" + folder + "{}', $$.Execution.Name)"}}
}

func (b builder) validateCSVFile() object {
	return b.lambda(ValidateCSVFile,
		"Validates the whole file and copies it, so that no other file can replace the Map's input; joins the ranges of a large file",
		b.ValidateFunction,
		object{
			{"source.$", "$.source"},
			{"workBucket.$", "$.work.bucket"},
			{"workPrefix.$", "$.work.prefix"},
			{"validation.$", "$.validation"},
		},
		object{
			{"ResultSelector", object{{"report.$", "$.Payload"}}},
			{"ResultPath", "$.validation"},
			catchAll("$.error", validationFailure),
			{"Next", checkValidation},
		})
}

func (b builder) checkValidation() object {
	return object{
		{"Type", "Choice"},
		{"Choices", []object{
			{{"Variable", "$.validation.report.split"}, {"IsPresent", true}, {"Next", ValidateRanges}},
			{{"Variable", "$.validation.report.valid"}, {"BooleanEquals", true}, {"Next", ProcessUserRecords}},
		}},
		{"Default", invalidFile},
	}
}

// invalidFile returns the state that converts a report of an invalid file to an error, because all other rejections
// arrive as errors.
func (b builder) invalidFile() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "No row of the file can be imported"},
		{"Parameters", object{{"Error", retry.ValidationError}, {"Cause.$", "$.validation.report.reason"}}},
		{"ResultPath", "$.error"},
		{"Next", validationFailure},
	}
}

func (b builder) validationFailure() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "Builds the notification about a file that is not imported"},
		{"Parameters", object{
			{"source.$", "$.source"},
			{"execution.$", "$.execution"},
			{"startTime.$", "$.startTime"},
			{"error.$", "$.error"},
			{"validation.$", "$.validation"},
		}},
		{"Next", checkRejection},
	}
}
