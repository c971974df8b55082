package retry_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"stepback/retry"
)

func ExamplePolicy_Delay() {
	policy := retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: 5 * time.Second, MaxAttempts: 5,
		Jitter: retry.JitterNone}
	for retry := 1; retry <= policy.MaxAttempts; retry++ {
		fmt.Print(policy.Delay(retry, nil), " ")
	}
	policy.Jitter = retry.JitterFull
	rnd := rand.New(rand.NewPCG(1, 2)) // seeded: the same delays each time
	fmt.Println(policy.Delay(1, rnd) <= time.Second)
	// Output: 1s 2s 4s 5s 5s true
}

func ExamplePolicy_Schedule() {
	preset, _ := retry.PresetNamed("standard")
	total := preset.Policy.Schedule().Total
	fmt.Println("on average", total.Mean, "at most", total.Max)
	// Output: on average 35.65s at most 40.3s
}

func ExampleClassify() {
	classification, _ := retry.Classify(fmt.Errorf("update user: %w", sqlError{"40P01"}))
	fmt.Println(classification)
	fmt.Println("repeat it as it is:", classification.Retriable(true))
	// Output:
	// DeadlockException (conflict, by SQLSTATE 40P01)
	// repeat it as it is: false
}

// An error of one's own says what it is.
func ExampleClassified() {
	err := fmt.Errorf("charge order 17: %w", cardServiceBusy{})
	fmt.Println(retry.Classify(err))
	// Output: CardServiceBusy (transient, by its own word) true
}

type cardServiceBusy struct{}

func (cardServiceBusy) Error() string { return "busy" }

func (cardServiceBusy) ClassifyRetry() (retry.Classification, bool) {
	return retry.Classification{Error: "CardServiceBusy", Class: retry.Transient, Identity: "its own word"}, true
}
