package policy_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/limiter"
	"stepback/retry"
)

const all = `
policy: 1
name: all
about: every member
retry: {interval: 1.5, rate: 3, maxDelay: 20, maxAttempts: 2, jitter: DECORRELATED}
budget: {preset: grpc, capacity: 20, timeoutCost: 2, refund: true}
throttle: {k: 1.1, window: 60}
breaker: {preset: source, consecutiveFailures: 7, failingFor: 3, chance: 0.01, window: 60, openFor: 90}
limiter: {initial: 5, min: 2, max: 50, increase: 2, decrease: 0.5, decreaseEvery: 2, permitTimeout: 30}
staleness: 2
deferral: {interval: 30, rate: 1.5, maxDelay: 300, maxAttempts: 20, jitter: FULL, failures: true, brief: {interval: 4, rate: 1.5, maxDelay: 9, maxAttempts: 3, jitter: NONE}}
poison: true
controller: {retry: true, mapRun: true}
redrive: {quiet: 90, rate: 2.5, attempts: 3}
oracle: false
`

func TestEveryMemberIsRead(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("all.yaml", []byte(all))
	if err != nil {
		t.Fatal(err)
	}
	b, c := budget.GRPC(), breaker.Conservative()
	b.Capacity, b.TimeoutCost, b.Refund = 20, 2, true
	c.ConsecutiveFailures, c.OpenFor = 7, 90*time.Second
	c.FailingFor, c.Chance, c.Window = 3*time.Second, 0.01, time.Minute
	want := &policy.Policy{
		Name: "all", About: "every member", Attempts: policy.FromScenario,
		Override: &retry.Policy{
			Interval: 1500 * time.Millisecond, Rate: 3, MaxDelay: 20 * time.Second, MaxAttempts: 2,
			Jitter: retry.JitterDecorrelated,
		},
		Budget: &b, Throttle: &budget.ThrottlePolicy{K: 1.1, Window: time.Minute}, Breaker: &c,
		Limiter: &limiter.Policy{
			Initial: 5, Min: 2, Max: 50, Increase: 2, Decrease: 0.5,
			DecreaseEvery: 2 * time.Second, PermitTimeout: 30 * time.Second,
		},
		Staleness: 2 * time.Second,
		Deferral: &retry.Policy{
			Interval: 30 * time.Second, Rate: 1.5, MaxDelay: 300 * time.Second, MaxAttempts: 20,
			Jitter: retry.JitterFull,
		},
		Brief: &retry.Policy{
			Interval: 4 * time.Second, Rate: 1.5, MaxDelay: 9 * time.Second, MaxAttempts: 3, Jitter: retry.JitterNone,
		},
		DefersFailures: true, Poison: true, Controller: &policy.Controller{Retry: true, MapRun: true},
		Redrive: &policy.Redrive{Quiet: 90 * time.Second, Rate: 2.5, Attempts: 3},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
}

// TestDurable reads strategies of durable functions, and rejects those that the SDKs cannot have.
func TestDurable(t *testing.T) {
	t.Parallel()
	read := func(text string) (*policy.Policy, error) {
		return policy.Parse("d.yaml", []byte("policy: 1\nname: d\n"+text))
	}
	p, err := read("durable: {preset: transient, maxAttempts: 4, initialDelay: 2, jitter: NONE}")
	if err != nil {
		t.Fatal(err)
	}
	want := retry.Durable{MaxAttempts: 4, InitialDelay: 2 * time.Second, MaxDelay: 5 * time.Minute, Rate: 2,
		Jitter: retry.JitterNone}
	if n, ok := p.ClientAttempts(); *p.Durable != want || n != 4 || !ok {
		t.Errorf("%+v, %d, %v", p.Durable, n, ok)
	}
	for text, want := range map[string]string{
		"durable: {preset: sometimes}":                        `"sometimes" is not allowed here`,
		"durable: {jitter: DECORRELATED}":                     `"DECORRELATED" is not allowed here`,
		"durable: {initialDelay: 0.5}":                        "durable.initialDelay: 0.5 is out of range",
		"durable: {rate: 2, increment: 3}":                    "give one of them",
		"durable: {preset: default}\nsdk: {generation: 2026}": "leave retry and sdk out",
		"durable: {preset: default}\nretry: {interval: 2}":    "leave retry and sdk out",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestWhatIsWrongIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"policy: 1", "policy: 2", "p.yaml:2:9: policy: only version 1"},
		{"name: all", "nam: all", "did you mean name?"},
		{"rate: 3", "rate: 0.5", "retry.rate: 0.5 is out of range"},
		{"retry: {", "retry: sometimes\n#{", "\"sometimes\" is not allowed here; write scenario or none"},
		{"preset: grpc", "preset: finangle", "\"finangle\" is not allowed here"},
		{"k: 1.1", "k: 0.9", "throttle.k: 0.9 is out of range"},
		{"openFor: 90", "openFor: 0", "breaker.openFor: 0 is out of range"},
		{"openFor: 90", "halfOpenConcurrency: 17", "HalfOpenConcurrency is 17; it must be between 1 and 16"},
		{"initial: 5", "initial: 500", "Initial is 500; it must be between Min and Max"},
		{"breaker: {", "#breaker: {", "staleness: shared needs a breaker and a limiter"},
		{"deferral: {", "#deferral: {", "poison: a record that is not to blame waits"},
		{all, "policy: 1\nname: p\ndeferral: {}", "this policy refuses no calls"},
		{all, "policy: 1\nname: p\nbreaker: {}\ndeferral: {brief: {}}", "deferral.brief: without a limiter"},
		{"maxAttempts: 3, jitter", "maxAttempts: -1, jitter", "deferral.brief.maxAttempts: -1 is out of range"},
		{"rate: 2.5", "rate: 0", "redrive.rate: give auto, all, or a number of dead letters a second above 0"},
		{"rate: 2.5", "rate: fast", "redrive.rate: "},
		{"quiet: 90", "quiet: 9", "redrive.quiet: 9 is out of range"},
		{all, "policy: 1\nname: p\nsdk: {}", "generation"},
		{all, "policy: 1\nname: p\nsdk: {generation: 2024}", "sdk.generation: 2024 is out of range"},
		{all, "policy: 1\nname: p\nsdk: {generation: 2026, service: s3}", "\"s3\" is not allowed here; write dynamodb"},
		{all, "policy: 1\nname: p\nsdk: {generation: 2025, retryAfter: 2}", "ignore x-amz-retry-after"},
		{all, "policy: 1\nname: p\nsdk: {generation: 2025, service: dynamodb}", "leave service out"},
		{all, "policy: 1\nname: p\nbudget: {}\nsdk: {generation: 2026}", "leave retry and budget out"},
		{all, "policy: 1\nname: p\nbudget: {}\ndeferral: {failures: true}", "the callee's outage is not noticed"},
	} {
		text := strings.Replace(all, c.from, c.to, 1)
		if _, err := policy.Parse("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q in it", c.to, err, c.want)
		}
	}
}

func TestSDKs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]retry.SDK{
		"{generation: 2025}":                    retry.SDK2025(),
		"{generation: 2026}":                    retry.SDK2026(),
		"{generation: 2026, service: dynamodb}": retry.SDK2026DynamoDB(),
	} {
		p, err := policy.Parse("p.yaml", []byte("policy: 1\nname: p\nsdk: "+text))
		if err != nil || *p.SDK != want || *p.Budget != budget.SDK(want) || p.RetryAfter != 0 || p.Clients != 1 {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
	p, err := policy.Parse("p.yaml", []byte("policy: 1\nname: p\nsdk: {generation: 2026, maxAttempts: 5, retryAfter: 2, clients: 40}"))
	if err != nil || p.SDK.MaxAttempts != 5 || p.Clients != 40 || p.RetryAfter != 2*time.Second {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(all)
	for _, name := range policy.Names() {
		text, err := policy.Text(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := policy.Parse("f.yaml", []byte(text)); (p == nil) == (err == nil) {
			t.Fatalf("policy %v with error %v", p, err)
		}
	})
}

func ExampleNamed() {
	p, err := policy.Named("adaptive")
	if err != nil {
		panic(err)
	}
	fmt.Println(p.About)
	// Output: limiter, breaker, paced waiting, poison told apart, and controller
}
