// Package oracle compares retry.SDK with the retryer of aws-sdk-go-v2 itself. It is compiled against the SDK's version
// in the go.mod of the module whose tests run it, so that each generation is its own oracle.
package oracle

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/adaptive/budget"
	"stepback/retry"
)

// Generation is one generation of the SDK's standard mode.
type Generation struct {
	Model retry.SDK
	// New is true for the generation of November 2026.
	New bool
	// Options configure the SDK's retryer like Model.
	Options []func(*awsretry.StandardOptions)
}

// draws are the numbers that the SDK draws for jitter, in the order of its draws. They are also the random numbers of
// the model.
type draws struct {
	numbers []uint64 // below 2⁵³
	next    int
}

// Uint64 implements retry.Rand.
func (d *draws) Uint64() uint64 {
	d.next++
	return d.numbers[d.next-1] << 11
}

// seed makes the SDK draw the same numbers as the model, n at most.
func seed(t *testing.T, n int, value uint64) *draws {
	t.Helper()
	cryptotest.SetGlobalRandom(t, value)
	d := &draws{numbers: make([]uint64, n)}
	limit := big.NewInt(1 << 53)
	for i := range d.numbers {
		k, err := cryptorand.Int(cryptorand.Reader, limit)
		if err != nil {
			t.Fatal(err)
		}
		d.numbers[i] = k.Uint64()
	}
	cryptotest.SetGlobalRandom(t, value)
	return d
}

// rounding is the difference of two waits that comes from rounding: the SDK computes seconds as a float64 and truncates
// them to nanoseconds.
const rounding = 4 * time.Nanosecond

func apart(a, b time.Duration) bool { return a-b > rounding || b-a > rounding }

// outcome is one kind of outcome of an attempt, with what each generation makes of it.
type outcome struct {
	name   string
	err    func(header string) error
	status bool // has a response, and so may have the header
	cause  retry.Cause
	// retried2025 and retried2026 report whether the generation retries it.
	retried2025, retried2026 bool
}

// response returns an error with a response of the given status.
func response(status int, header string, err error) error {
	h := http.Header{}
	if header != "" {
		h.Set("X-Amz-Retry-After", header)
	}
	return &smithy.OperationError{ServiceID: "S", OperationName: "O", Err: &awshttp.ResponseError{
		ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: h}}, Err: err,
		},
	}}
}

func generic(status int, code string) func(string) error {
	return func(header string) error { return response(status, header, &smithy.GenericAPIError{Code: code}) }
}

// modelled is an error type of a service's model.
type modelled struct{ code string }

func (m *modelled) Error() string                 { return m.code }
func (m *modelled) ErrorCode() string             { return m.code }
func (m *modelled) ErrorMessage() string          { return "" }
func (m *modelled) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// late is a timeout of the client.
type late struct{}

func (late) Error() string { return "timed out" }
func (late) Timeout() bool { return true }

var outcomes = []outcome{
	{"503", generic(503, "ServiceUnavailable"), true, retry.CauseOther, true, true},
	{"500", generic(500, "InternalError"), true, retry.CauseOther, true, true},
	{"502 without a code", func(h string) error { return response(502, h, errors.New("bad gateway")) }, true,
		retry.CauseOther, true, true},
	{"throttling", generic(400, "ThrottlingException"), true, retry.CauseThrottle, true, true},
	{"503 SlowDown", generic(503, "SlowDown"), true, retry.CauseThrottle, true, true},
	{"modelled throttling", func(h string) error {
		return response(400, h, &modelled{"ProvisionedThroughputExceededException"})
	}, true, retry.CauseThrottle, true, true},
	{"429 of no model", generic(429, "Whatever"), true, retry.CauseThrottle, false, true},
	{"429 of a model", func(h string) error { return response(429, h, &modelled{"QuotaException"}) }, true,
		retry.CauseOther, false, false},
	{"timeout", func(string) error { return late{} }, false, retry.CauseTimeout, true, true},
	{"RequestTimeout", generic(400, "RequestTimeout"), true, retry.CauseOther, true, true},
	{"connection reset", func(string) error { return errors.New("read: connection reset by peer") }, false,
		retry.CauseOther, true, true},
	{"400", generic(400, "ValidationException"), true, retry.CauseOther, false, false},
	{"404", generic(404, "NoSuchKey"), true, retry.CauseOther, false, false},
	{"cancelled", func(string) error { return &aws.RequestCanceledError{Err: context.Canceled} }, false,
		retry.CauseOther, false, false},
}

// headers are values of x-amz-retry-after: pauses in milliseconds, and what is no pause.
var headers = []string{"", "", "", "0", "1", "40", "1500", "4000", "30000", "soon", "-5", "1.5"}

func pauseOf(header string) time.Duration {
	ms, err := strconv.ParseInt(header, 10, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// Decisions runs calls through the SDK's whole retry middleware until it has decided n times whether to retry a failed
// attempt, and compares every decision and every wait with the model's. The share of failing attempts changes, so that
// the quota empties and fills.
func (g Generation) Decisions(t *testing.T, n int, value uint64) {
	t.Helper()
	random := seed(t, n+16, value)
	synctest.Test(t, func(t *testing.T) {
		script := rand.New(rand.NewPCG(value, 1))
		attempts := awsretry.NewAttemptMiddleware(awsretry.NewStandard(g.Options...),
			func(request any) any { return request })
		quota, state := budget.SDK(g.Model), budget.State{}
		var counted counts
		for call := 0; counted.decisions < n; call++ {
			failing := []float64{0.02, 0.4, 0.02, 0.97, 0.05, 0.7}[call/60%6]
			c := caller{Generation: g, quota: &quota, state: &state, random: random, counts: &counted}
			_, _, err := attempts.HandleFinalize(t.Context(), middleware.FinalizeInput{},
				middleware.FinalizeHandlerFunc(func(context.Context, middleware.FinalizeInput) (middleware.FinalizeOutput,
					middleware.Metadata, error) {
					var o *outcome
					header := ""
					if script.Float64() < failing {
						o = &outcomes[script.IntN(len(outcomes))]
						if !o.retried2026 && script.Float64() < 0.8 { // most failures are worth a retry
							o = &outcomes[0]
						}
						if o.status {
							header = headers[script.IntN(len(headers))]
						}
					}
					if problem := c.attempt(time.Now(), o, header); problem != "" {
						t.Fatalf("call %d, attempt %d: %s", call, c.number, problem)
					}
					if o == nil {
						return middleware.FinalizeOutput{}, middleware.Metadata{}, nil
					}
					return middleware.FinalizeOutput{}, middleware.Metadata{}, o.err(header)
				}))
			if problem := c.ended(err); problem != "" {
				t.Fatalf("call %d, after %d attempts: %s", call, c.number, problem)
			}
		}
		t.Logf("%d decisions: %d retries, %d refused by the quota, %d at the last attempt, %d permanent; %d waits lengthened",
			counted.decisions, counted.retries, counted.refused, counted.last, counted.permanent, counted.lengthened)
		const enough = 5_000 // of fewer decisions, some kinds may be missing by chance
		if n >= enough && (counted.retries*20 < n || counted.refused*50 < n || counted.last*200 < n || counted.permanent*50 < n ||
			g.New && counted.lengthened*100 < n) {
			t.Error("some kinds of decisions are too rare for a comparison")
		}
	})
}

type counts struct{ decisions, retries, refused, last, permanent, lengthened int }

// caller follows one call in the model.
type caller struct {
	Generation
	*counts
	quota  *budget.Policy
	state  *budget.State
	random *draws

	number  int         // of attempts
	paid    retry.Cause // of the last retry
	expects bool        // another attempt
	due     time.Time   // of that attempt
	failed  bool        // the last attempt
	why     string      // of the last decision
}

// attempt compares an attempt with what the model expects, and decides what follows it. o is nil for a success. It
// returns a description of the difference, or "".
func (c *caller) attempt(now time.Time, o *outcome, header string) string {
	if c.number > 0 {
		switch {
		case !c.expects:
			return "the SDK retries, and the model does not: " + c.why
		case apart(now.Sub(c.due), 0):
			return fmt.Sprintf("the SDK waits %s longer than the model", now.Sub(c.due))
		}
	}
	c.number++
	c.expects, c.failed = false, o != nil
	if o == nil {
		c.state.Success(c.quota, now, c.number > 1, c.paid)
		return ""
	}
	c.state.Failure(c.quota, now)
	c.decide(now, o, header)
	return ""
}

func (c *caller) decide(now time.Time, o *outcome, header string) {
	c.decisions++
	retried := o.retried2025
	if c.New {
		retried = o.retried2026
	}
	switch {
	case !retried:
		c.permanent++
		c.why = o.name + " is permanent"
	case c.number >= c.Model.MaxAttempts:
		c.last++
		c.why = "no attempt is left"
	case !c.state.Retry(c.quota, now, o.cause):
		c.refused++
		c.why = fmt.Sprintf("%v tokens do not cover a retry after %s", c.state.Tokens(c.quota, now), o.name)
	default:
		c.retries++
		c.expects, c.paid, c.why = true, o.cause, "after "+o.name
		wait := c.Model.Delay(c.number, o.cause, c.random)
		after := c.Model.After(wait, pauseOf(header))
		if after > wait {
			c.lengthened++
		}
		c.due = now.Add(after)
	}
}

// ended compares the end of a call with what the model expects.
func (c *caller) ended(err error) string {
	switch {
	case c.expects:
		return fmt.Sprintf("the SDK gives up, and the model retries %s: %v", c.why, err)
	case c.failed != (err != nil):
		return fmt.Sprintf("the SDK reports %v", err)
	}
	return ""
}
