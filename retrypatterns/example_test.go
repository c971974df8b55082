package retrypatterns_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	rp "stepback/retrypatterns"
)

func ExampleCompile() {
	compiled, err := rp.Compile(rp.ValidateCSVFile)
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

func ExamplePolicy_Delay() {
	policy := rp.Policy{Interval: time.Second, Rate: 2, MaxDelay: 5 * time.Second, MaxAttempts: 5,
		Jitter: rp.JitterNone}
	for retry := 1; retry <= policy.MaxAttempts; retry++ {
		fmt.Print(policy.Delay(retry, nil), " ")
	}
	policy.Jitter = rp.JitterFull
	rnd := rand.New(rand.NewPCG(1, 2)) // seeded: the same delays each time
	fmt.Println(policy.Delay(1, rnd) <= time.Second)
	// Output: 1s 2s 4s 5s 5s true
}

func ExamplePolicy_Schedule() {
	pattern, _ := rp.PatternNamed(rp.Aggressive)
	total := pattern.Policy.Schedule().Total
	fmt.Println("on average", total.Mean, "at most", total.Max)
	// Output: on average 15.5s at most 31s
}

func ExampleTable_Explain() {
	explanation, _ := rp.DefaultTable().Explain(rp.ValidateCSVFile)
	lambda := explanation.Retriers[1]
	fmt.Println(lambda.Schedule.Retries, "retries wait at most", lambda.Schedule.Total.Max)
	fmt.Println("within the timeout of", explanation.Timeout, "–", lambda.WaitFitsTimeout)
	fmt.Println("if every attempt times out, the state lasts", lambda.Longest)
	// Output:
	// 5 retries wait at most 31s
	// within the timeout of 5m0s – true
	// if every attempt times out, the state lasts 30m31s
}

func ExampleClassify() {
	classification, _ := rp.Classify(fmt.Errorf("update user: %w", sqlError{"40P01"}))
	pattern, _ := classification.Pattern()
	fmt.Println(classification)
	fmt.Println(pattern)
	// Output:
	// DeadlockException (conflict, by SQLSTATE 40P01)
	// database_optimized (database connections): 4 retries, 2s ×1.8 up to 30s, jitter FULL
}
