package worth_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/worth"
)

func virginia(t *testing.T) worth.Prices {
	t.Helper()
	p, err := worth.PricesOf("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

func TestCostOfAnAttempt(t *testing.T) {
	t.Parallel()
	p := virginia(t)
	for _, c := range []struct {
		name string
		a    worth.Attempt
		want worth.Cost
	}{
		{"a second of a function with 1 GB costs a GB-second, not ten", worth.Attempt{MemoryMB: 1024,
			Duration: time.Second},
			worth.Cost{Transition: 0.000025, Request: 0.0000002, Compute: 0.0000166667}},
		{"100 ms cost a tenth of it", worth.Attempt{MemoryMB: 1024, Duration: 100 * time.Millisecond},
			worth.Cost{Transition: 0.000025, Request: 0.0000002, Compute: 0.00000166667}},
		{"part of a millisecond is billed whole", worth.Attempt{MemoryMB: 1024, Duration: 99*time.Millisecond + 1},
			worth.Cost{Transition: 0.000025, Request: 0.0000002, Compute: 0.00000166667}},
		{"arm64, 256 MB", worth.Attempt{MemoryMB: 256, Architecture: worth.Arm, Duration: time.Second},
			worth.Cost{Transition: 0.000025, Request: 0.0000002, Compute: 0.00000333335}},
		{"not a function", worth.Attempt{Duration: time.Second}, worth.Cost{Transition: 0.000025}},
		{"a step of a durable function", worth.Attempt{Step: true, MemoryMB: 1024, Duration: time.Second},
			worth.Cost{Transition: 0.000008, Request: 0.0000002, Compute: 0.0000166667}},
		{"half an hour of delay", worth.Attempt{Wait: 30 * time.Minute, DelayPerHour: 0.6},
			worth.Cost{Transition: 0.000025, Delay: 0.3}},
		{"a callee at its limit", worth.Attempt{Load: 0.01}, worth.Cost{Transition: 0.000025, Load: 0.01}},
		{"nothing below nothing", worth.Attempt{MemoryMB: -1, Wait: -time.Hour, Duration: -time.Hour,
			DelayPerHour: -1, Load: -1},
			worth.Cost{Transition: 0.000025}},
	} {
		got := p.Cost(c.a)
		if !near(got.Transition, c.want.Transition) || !near(got.Request, c.want.Request) || !near(got.Compute,
			c.want.Compute) ||
			!near(got.Delay, c.want.Delay) ||
			!near(got.Load, c.want.Load) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestPricesHaveADateAndAPlace(t *testing.T) {
	t.Parallel()
	p := virginia(t)
	if _, err := time.Parse(time.DateOnly, p.Date); err != nil || p.Source == "" {
		t.Errorf("prices of %q, from %q", p.Date, p.Source)
	}
	seoul, err := worth.PricesOf("ap-northeast-2")
	if err != nil || !near(seoul.Transition, 0.0000271) {
		t.Errorf("a transition in Seoul costs %v, %v", seoul.Transition, err)
	}
	if _, err := worth.PricesOf("mars-north-1"); err == nil || !strings.Contains(err.Error(), "us-east-1") {
		t.Errorf("error is %v, want the regions that are there", err)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	cost := worth.Cost{Transition: 0.000025, Compute: 0.000005}
	for _, c := range []struct {
		probability, value float64
		retry              bool
		reason             string
	}{
		{0.01, 1, true, "retry: 0.01 × $1 is more than the $3e-05 that an attempt costs"},
		{0.01, 0.003, false, "give up: 0.01 × $0.003 is not more than the $3e-05 that an attempt costs"},
		{0, 1000, false, "give up: 0 × $1e+03 is not more than the $3e-05 that an attempt costs"},
		{math.NaN(), 1, true,
			"retry: the probability of success is NaN, which is not a probability; nothing is known against another attempt"},
		{1.5, 1, true,
			"retry: the probability of success is 1.5, which is not a probability; nothing is known against another attempt"},
		{0.5, -1, true, "retry: the value of a success is -1; set it to USD, 0 or more"},
	} {
		if d := worth.Decide(c.probability, c.value, cost); d.Retry != c.retry || d.Reason != c.reason {
			t.Errorf("p %v, value %v: %v, %q; want %v, %q", c.probability, c.value, d.Retry, d.Reason, c.retry,
				c.reason)
		}
	}
}

// A better chance, a higher value or a lower cost never turns a retry into giving up.
func TestMoreIsNeverWorse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		value := rapid.Float64Range(0, 10).Draw(t, "value")
		cost := rapid.Float64Range(0, 1).Draw(t, "cost")
		better := rapid.Float64Range(0, 1).Draw(t, "better")
		if worth.Decide(p, value, worth.Cost{Load: cost}).Retry &&
			!worth.Decide(p+(1-p)*better, value*(1+better), worth.Cost{Load: cost * (1 - better)}).Retry {
			t.Fatal("gave up on better terms")
		}
	})
}

func ExampleDecide() {
	prices, err := worth.PricesOf("eu-central-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	cost := prices.Cost(worth.Attempt{MemoryMB: 256, Architecture: worth.Arm, Duration: 200 * time.Millisecond})
	fmt.Println(worth.Decide(0.3, 0.001, cost).Reason)
	// Output: retry: 0.3 × $0.001 is more than the $2.59e-05 that an attempt costs
}
