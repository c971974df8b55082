package differential_test

import (
	"flag"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"stepback/adaptive/lab/differential/oracle"
	"stepback/retry"
)

var decisions = flag.Int("decisions", 100_000, "number of decisions to compare with the SDK in each test")

// The waits and decisions of the model are those of the SDK of November 2026.
func TestSDKOfNovember2026(t *testing.T) {
	g := oracle.Generation{Model: retry.SDK2026(), New: true}
	t.Run("calls", func(t *testing.T) { g.Decisions(t, *decisions, 1) })
	t.Run("laboratory", func(t *testing.T) { g.Laboratory(t, "sdk-2026", *decisions) })
}

// DynamoDB's clients have their own numbers, which the SDK sets in the client.
func TestSDKOfDynamoDB(t *testing.T) {
	g := oracle.Generation{Model: retry.SDK2026DynamoDB(), New: true, Options: []func(*awsretry.StandardOptions){
		func(o *awsretry.StandardOptions) { o.MaxAttempts, o.BaseDelay = 4, 25*time.Millisecond },
	}}
	g.Decisions(t, *decisions, 2)
}

// Many attempts, with a quota that lasts for them, reach the longest waits.
func TestSDKWithManyAttempts(t *testing.T) {
	model := retry.SDK2026()
	model.MaxAttempts, model.Quota = 8, 50_000
	g := oracle.Generation{Model: model, New: true, Options: []func(*awsretry.StandardOptions){
		func(o *awsretry.StandardOptions) {
			o.MaxAttempts, o.RateLimiter = 8, ratelimit.NewTokenRateLimit(50_000)
		},
	}}
	g.Decisions(t, *decisions/10, 3)
}
