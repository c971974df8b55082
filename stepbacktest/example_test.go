package stepbacktest_test

import (
	"context"
	"testing"
	"time"

	"stepback"
	"stepback/stepbacktest"
)

// Tests a definition whose function is busy twice.
func Example() {
	type order struct{ ID string }
	const definition = `{"StartAt": "Charge", "States": {"Charge": {
		"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge",
		"Retry": [{"ErrorEquals": ["CardServiceBusy"], "IntervalSeconds": 2, "BackoffRate": 2}], "End": true
	}}}`
	_ = func(t *testing.T) { // func TestOrders(t *testing.T)
		failures := 2
		run := stepbacktest.Run(t, definition, order{ID: "17"}, stepbacktest.Options{
			Functions: stepback.Functions{
				"charge": stepback.Func(func(_ context.Context, o order) (string, error) {
					if failures--; failures >= 0 {
						return "", stepback.Errorf("CardServiceBusy", "try again")
					}
					return "receipt of " + o.ID, nil
				}),
			},
		})
		run.WantSucceeded("receipt of 17")
		run.WantEntered("Charge")
		run.WantAttempts("Charge", 3)
		run.WantWaits("Charge", 2*time.Second, 4*time.Second)
		run.WantTook(6 * time.Second)
	}
}
