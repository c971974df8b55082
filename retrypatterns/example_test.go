package retrypatterns_test

import (
	"encoding/json"
	"fmt"
	"time"

	"stepback/retry"
	rp "stepback/retrypatterns"
)

func ExamplePatternNamed() {
	pattern, _ := rp.PatternNamed(rp.Aggressive)
	total := pattern.Policy.Schedule().Total
	fmt.Println("on average", total.Mean, "at most", total.Max)
	// Output: on average 15.5s at most 31s
}

func ExamplePatternFor() {
	classification, _ := retry.ClassifySQLState("40P01")
	pattern, _ := rp.PatternFor(classification.Error)
	fmt.Println(pattern)
	// Output: database_optimized (database connections): 4 retries, 2s ×1.8 up to 30s, jitter FULL
}

func ExampleStateRetries_Compile() {
	conservative, _ := rp.PatternNamed(rp.Conservative)
	state := rp.StateRetries{State: "Charge", Timeout: time.Minute, Rows: []rp.Row{
		{Errors: []string{retry.TooManyRequestsError}, Policy: conservative.Policy},
	}}
	compiled, err := state.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := json.Marshal(compiled.Retry)
	fmt.Println(string(text))
	fmt.Println(compiled.Notes[0])
	// Output:
	// [{"ErrorEquals":["TooManyRequestsError"],"IntervalSeconds":5,"MaxAttempts":3,"BackoffRate":2.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL"}]
	// Charge, retry row 1: jitter lowered: JitterStrategy PARTIAL → FULL
}
