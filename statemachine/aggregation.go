package statemachine

import (
	"fmt"
)

func (b builder) aggregateResults() object {
	return b.lambda(AggregateResults, "Accounts for every row: summary, dead letters and corrections",
		b.AggregateFunction,
		object{
			{"source.$", "$.source"},
			{"execution.$", "$.execution"},
			{"run.$", "$.run"},
			{"rows.$", "$.validation.report.rows"},
			{"data.$", "$.validation.report.data"},
			{"part.$", "$.validation.report.part"},
			{"results.$", "$.results"},
			{"output.$", "$.output"},
			{"toleratedFailurePercentage", b.ToleratedFailurePercentage},
			{"startTime.$", "$.startTime"},
			{"mapError.$", "$.mapError"},
		},
		object{
			{"ResultSelector", object{{"summary.$", "$.Payload"}}},
			{"ResultPath", "$.aggregation"},
			catchAll("$.error", checkFailure),
			{"Next", checkTolerance},
		})
}

func (b builder) checkTolerance() object {
	return object{
		{"Type", "Choice"},
		{"Choices", []object{
			{{"Variable", "$.aggregation.summary.next"}, {"IsPresent", true}, {"Next", takeNextPart}},
			{{"Variable", "$.mapError"}, {"IsNull", false}, {"Next", mapRunFailed}},
			{{"And", []object{
				{{"Variable", "$.aggregation.summary.withinTolerance"}, {"BooleanEquals", true}}, isPart(),
			}}, {"Next", importSucceeded}},
			{{"Variable", "$.aggregation.summary.withinTolerance"}, {"BooleanEquals", true},
				{"Next", NotifyCompletion}},
		}},
		{"Default", toleranceExceeded},
	}
}

func (b builder) mapRunFailed() object {
	return object{
		{"Type", "Pass"},
		{"Comment", "The Map Run did not finish; the summary shows how far it got"},
		{"Parameters", object{{"Error.$", "$.mapError.Error"}, {"Cause.$", "$.mapError.Cause"}}},
		{"ResultPath", "$.error"},
		{"Next", checkFailure},
	}
}

func (b builder) toleranceExceeded() object {
	cause := fmt.Sprintf("States.Format('{} rejected and {} dead-lettered of {} rows; %v percent are tolerated. Summary: s3://{}/{}', "+
		"$.aggregation.summary.rejected, $.aggregation.summary.deadLettered, $.aggregation.summary.rows, "+
		"$.aggregation.summary.summary.bucket, $.aggregation.summary.summary.key)", b.ToleratedFailurePercentage)
	return object{
		{"Type", "Pass"},
		{"Parameters", object{{"Error", ToleranceExceeded}, {"Cause.$", cause}}},
		{"ResultPath", "$.error"},
		{"Next", checkFailure},
	}
}
