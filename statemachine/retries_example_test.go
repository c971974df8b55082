package statemachine_test

import (
	"encoding/json"
	"fmt"

	"stepback/statemachine"
)

func ExampleDefaultTable() {
	compiled, err := statemachine.DefaultTable().Compile(statemachine.ValidateCSVFile)
	if err != nil {
		fmt.Println(err)
		return
	}
	throttling, _ := json.Marshal(compiled.Retry[2])
	fmt.Println(string(throttling))
	fmt.Println(compiled.Notes[0])
	// Output:
	// {"ErrorEquals":["Lambda.TooManyRequestsException","Lambda.ThrottledException"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL","Comment":"Lambda スロットリング用の保守的再試行"}
	// ValidateCSVFile, retry row 3: jitter lowered: JitterStrategy PARTIAL → FULL
}

func ExampleDefaultTable_explain() {
	explanation, _ := statemachine.DefaultTable().Explain(statemachine.ValidateCSVFile)
	lambda := explanation.Retriers[1]
	fmt.Println(lambda.Schedule.Retries, "retries wait at most", lambda.Schedule.Total.Max)
	fmt.Println("within the timeout of", explanation.Timeout, "–", lambda.WaitFitsTimeout)
	fmt.Println("if every attempt times out, the state lasts", lambda.Longest)
	// Output:
	// 5 retries wait at most 31s
	// within the timeout of 5m0s – true
	// if every attempt times out, the state lasts 30m31s
}
