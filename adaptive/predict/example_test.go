package predict_test

import (
	"fmt"
	"time"

	"stepback/adaptive/predict"
)

// A retry after a throttle mostly succeeds, one after a crash hardly ever.
func ExampleTrain() {
	began := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	rate, load, size := 0.1, 0.5, 100.0
	attempt := func(i int, name string, succeeded bool) predict.Example {
		return predict.Example{
			At: began.Add(time.Duration(i) * time.Second), Execution: fmt.Sprint("execution-", i), Error: name,
			Attempt: 1, FailureRate: &rate, Load: &load, Bytes: &size, Succeeded: succeeded,
		}
	}
	var history []predict.Example
	for i := range 1000 {
		if i%2 == 0 {
			history = append(history, attempt(i, "Lambda.TooManyRequestsException", i%20 != 0)) // 9 of 10
		} else {
			history = append(history, attempt(i, "Runtime.ExitError", i%20 == 1)) // 1 of 10
		}
	}
	model, err := predict.Train(history, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the simplest model that none beats:", model.Kind)
	for _, name := range []string{"Lambda.TooManyRequestsException", "Runtime.ExitError"} {
		probability, complete := model.Predict(attempt(2000, name, false))
		fmt.Printf("%s: %.1f, all features known: %v\n", name, probability, complete)
	}
	// Output:
	// the simplest model that none beats: shrunk-rates
	// Lambda.TooManyRequestsException: 0.9, all features known: true
	// Runtime.ExitError: 0.1, all features known: true
}
