package sdk2025_test

import (
	"flag"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"

	"stepback/adaptive/lab/differential/oracle"
	"stepback/retry"
)

var decisions = flag.Int("decisions", 100_000, "number of decisions to compare with the SDK in each test")

// The waits and decisions of the model are those of the SDK before November 2026.
func TestSDKBeforeNovember2026(t *testing.T) {
	if aws.SDKVersion != "1.47.6" {
		t.Fatalf("the SDK has version %s, want 1.47.6", aws.SDKVersion)
	}
	g := oracle.Generation{Model: retry.SDK2025()}
	t.Run("calls", func(t *testing.T) { g.Decisions(t, *decisions, 1) })
	t.Run("laboratory", func(t *testing.T) { g.Laboratory(t, "sdk-2025", *decisions) })
}

// Many attempts, with a quota that lasts for them, reach the longest waits.
func TestSDKWithManyAttempts(t *testing.T) {
	model := retry.SDK2025()
	model.MaxAttempts, model.Quota = 8, 15_000
	g := oracle.Generation{Model: model, Options: []func(*awsretry.StandardOptions){
		func(o *awsretry.StandardOptions) {
			o.MaxAttempts, o.RateLimiter = 8, ratelimit.NewTokenRateLimit(15_000)
		},
	}}
	g.Decisions(t, *decisions/10, 3)
}
