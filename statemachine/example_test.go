package statemachine_test

import (
	"bytes"
	"fmt"

	"stepback/statemachine"
)

func ExampleDefinition() {
	options := statemachine.DefaultOptions()
	options.ValidateFunction, options.ProcessFunction, options.AggregateFunction = "csv-validate", "csv-process",
		"csv-aggregate"
	options.ResultBucket = "csv-results"
	options.TopicARN = "arn:aws:sns:us-east-1:123456789012:csv-import"
	options.BatchSize = 50

	text, err := statemachine.Definition(statemachine.DefaultTable(), options)
	fmt.Println(bytes.Contains(text, []byte(`"MaxItemsPerBatch": 50`)), err)
	// Output: true <nil>
}
