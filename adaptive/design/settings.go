package design

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/limiter"
	"stepback/retry"
	"stepback/retrypatterns"
)

// Settings are the settings that a design chooses. Times are in seconds.
type Settings struct {
	// Retry is the retrier for all errors that may recover; its MaxAttempts is 0 if there are no retries.
	Retry Backoff `json:"retry"`
	// Timeout is the state's TimeoutSeconds. Concurrency is the Map's MaxConcurrency; 0 of a stream.
	Timeout     float64 `json:"timeout"`
	Concurrency int     `json:"concurrency,omitempty"`
	// Budget is the share of a retry that every success earns; 0 without a budget. Up to BudgetCapacity retries can be
	// saved.
	Budget         float64 `json:"budget,omitempty"`
	BudgetCapacity float64 `json:"budgetCapacity,omitempty"`
	// Limiter is true if an AIMD limiter bounds the calls in flight, with the numbers of limiter.Standard and at most
	// LimiterMax calls. Breaker is true if a breaker with the numbers of breaker.Callee acts besides.
	Limiter    bool    `json:"limiter"`
	LimiterMax float64 `json:"limiterMax,omitempty"`
	Breaker    bool    `json:"breaker"`
	// Paced is the retrier for calls that the limiter or the breaker refused, and for calls that failed by load while
	// the callee was unavailable; nil without a limiter.
	Paced *Backoff `json:"paced,omitempty"`
}

// Backoff is the waits of a retrier with full jitter. Times are in seconds.
type Backoff struct {
	Interval    int     `json:"interval"`
	Rate        float64 `json:"rate"`
	MaxDelay    int     `json:"maxDelay"`
	MaxAttempts int     `json:"maxAttempts"`
}

func seconds(s float64) time.Duration {
	return time.Duration(min(s, math.MaxInt64/1e9-1) * float64(time.Second))
}

// Policy returns the backoff as a retry.Policy.
func (b Backoff) Policy() retry.Policy {
	return retry.Policy{
		Interval: seconds(float64(b.Interval)), Rate: b.Rate, MaxDelay: seconds(float64(b.MaxDelay)),
		MaxAttempts: b.MaxAttempts, Jitter: retry.JitterFull,
	}
}

// Retrier returns the backoff as a retrier for the errors.
func (b Backoff) Retrier(errors ...string) retrypatterns.Retrier {
	if b.MaxAttempts == 0 {
		return retrypatterns.Retrier{ErrorEquals: errors}
	}
	return retrypatterns.Retrier{
		ErrorEquals: errors, IntervalSeconds: b.Interval, MaxAttempts: b.MaxAttempts, BackoffRate: b.Rate,
		MaxDelaySeconds: b.MaxDelay, JitterStrategy: retry.JitterFull,
	}
}

// Policy returns the laboratory's policy of the settings.
func (s *Settings) Policy() *policy.Policy {
	p := &policy.Policy{Name: "design", About: s.String(), Attempts: policy.FromScenario}
	if s.Budget > 0 {
		b := budget.Bucket()
		b.PerSuccess, b.Capacity = s.Budget, s.BudgetCapacity
		p.Budget = &b
	}
	if s.Limiter {
		l := limiter.Standard()
		l.Max = s.LimiterMax
		l.Initial = min(l.Initial, l.Max)
		paced := s.Paced.Policy()
		p.Limiter, p.Deferral, p.DefersFailures = &l, &paced, true
	}
	if s.Breaker {
		b := breaker.Callee()
		p.Breaker = &b
	}
	return p
}

// retriers returns the Retry block for the laboratory. The laboratory's deferral stands for the paced retrier.
func (p *Problem) retriers(s *Settings) []scenario.Retrier {
	var all []scenario.Retrier
	if names := p.permanentErrors(); len(names) > 0 {
		all = append(all, scenario.Retrier{Errors: names})
	}
	if s.Retry.MaxAttempts == 0 {
		return all
	}
	return append(all, scenario.Retrier{Errors: []string{"States.ALL"}, Policy: s.Retry.Policy()})
}

func (p *Problem) permanentErrors() []string {
	var names []string
	for _, e := range p.Callee.Errors {
		if e.Permanent {
			names = append(names, e.Name)
		}
	}
	return names
}

// RetryBlock returns the state's Retry block.
func (p *Problem) RetryBlock(s *Settings) []retrypatterns.Retrier {
	all := []retrypatterns.Retrier{}
	if s.Limiter {
		all = append(all, s.Paced.Retrier(retry.CircuitOpen, retry.RetryBudgetExhausted))
	}
	if s.Retry.MaxAttempts == 0 {
		return all
	}
	never := p.permanentErrors()
	if s.Budget > 0 && !s.Limiter {
		never = append(never, retry.RetryBudgetExhausted)
	}
	if len(never) > 0 {
		all = append(all, retrypatterns.Retrier{ErrorEquals: never})
	}
	return append(all, s.Retry.Retrier("States.ALL"))
}

// complexity counts the settings that an operator has to understand. What acts in the function counts more
// than what the definition says.
func (s *Settings) complexity() int {
	n := 0
	if s.Retry.MaxAttempts > 0 {
		n++
	}
	if s.Budget > 0 {
		n += 2
	}
	if s.Limiter {
		n += 3
	}
	if s.Breaker {
		n++
	}
	return n
}

// String describes the settings in one line.
func (s *Settings) String() string {
	var parts []string
	if s.Retry.MaxAttempts == 0 {
		parts = append(parts, "no retries")
	} else {
		parts = append(parts, s.Retry.String())
	}
	if s.Budget > 0 {
		parts = append(parts, fmt.Sprintf("budget of one retry per %.3g successes, at most %.3g saved", 1/s.Budget, s.BudgetCapacity))
	}
	if s.Limiter {
		parts = append(parts, "limiter")
		if s.LimiterMax < limiter.Standard().Max {
			parts[len(parts)-1] = fmt.Sprintf("limiter of at most %.0f calls", s.LimiterMax)
		}
	}
	if s.Breaker {
		parts = append(parts, "breaker")
	}
	if s.Limiter {
		parts = append(parts, "refused records wait: "+s.Paced.String())
	}
	parts = append(parts, fmt.Sprintf("timeout %.4g s", s.Timeout))
	if s.Concurrency > 0 {
		parts = append(parts, fmt.Sprintf("MaxConcurrency %d", s.Concurrency))
	}
	return strings.Join(parts, ", ")
}

// String describes the waits.
func (b Backoff) String() string {
	retries := "retries"
	if b.MaxAttempts == 1 {
		retries = "retry"
	}
	return fmt.Sprintf("%d %s from %d s × %.3g up to %d s", b.MaxAttempts, retries, b.Interval, b.Rate, b.MaxDelay)
}

// key identifies the settings.
func (s *Settings) key() string {
	paced := Backoff{}
	if s.Paced != nil {
		paced = *s.Paced
	}
	flat := *s
	flat.Paced = nil
	return fmt.Sprint(flat, paced)
}

// The retriers that the search tries: waits of some seconds for short trouble, of minutes for outages.
var (
	shortRetries = []Backoff{
		{1, 2, 10, 1}, {1, 2, 10, 2}, {2, 2, 30, 3}, {5, 2, 60, 4}, {2, 2, 60, 6}, {10, 2, 120, 4}, {1, 2, 10, 4},
	}
	longRetries = []Backoff{
		{30, 2, 300, 4}, {15, 1.5, 120, 10}, {30, 1.5, 300, 10}, {60, 2, 600, 8}, {30, 1.5, 300, 20}, {5, 1.5, 30, 20},
	}
	pacedRetries = []Backoff{{30, 1.5, 300, 20}, {10, 1.5, 60, 40}, {3, 1.5, 30, 60}}
)

// spreadRetries returns retriers for the problem's own faults: their waits are as long as a fault, as its backlog takes
// to drain, or both, so that the retries arrive at the rate that the callee can spare. Objective.Within leaves time for
// two waits at least.
func (p *Problem) spreadRetries() []Backoff {
	var all []Backoff
	for k := range p.Faults {
		f := &p.Faults[k]
		long := f.For.High
		waits := []float64{long}
		if p.Arrivals != nil {
			capacity, rate := p.Callee.Capacity(), p.Arrivals.Rate.High
			for _, served := range []float64{capacity.Low, (capacity.Low + capacity.High) / 2} {
				if served > rate {
					drain := f.backlog(rate) / (served - rate)
					waits = append(waits, drain, long+drain)
				}
			}
		}
		for _, w := range waits {
			interval := int(math.Ceil(min(w, p.Objective.Within/2)))
			for _, attempts := range []int{2, 4} {
				b := Backoff{max(interval, 1), 1.5, 2 * max(interval, 1), attempts}
				if interval > shortRetries[0].Interval && !slices.Contains(all, b) {
					all = append(all, b)
				}
			}
		}
	}
	return all
}

// backlog returns the number of records that wait at the end of the fault at most, if rate records arrive per second.
func (f *Fault) backlog(rate float64) float64 {
	return f.For.High * (1 - f.Speed.Low*(1-f.Errors.High)) * rate
}

// candidates returns the settings that the search tries first, the simplest first.
func (p *Problem) candidates() []Settings {
	base := Settings{Timeout: p.Call.Timeout}
	if base.Timeout == 0 {
		base.Timeout = p.timeouts()[0]
	}
	most := limiter.Standard().Max
	all := []Settings{base}
	with := func(f func(*Settings)) {
		s := base
		f(&s)
		all = append(all, s)
	}
	retries := append(append(append([]Backoff{}, shortRetries...), longRetries...), p.spreadRetries()...)
	for _, b := range retries {
		with(func(s *Settings) { s.Retry = b })
	}
	if p.permits(UseBudget) {
		for _, share := range []float64{0.1, 0.5} {
			for _, b := range []Backoff{shortRetries[2], shortRetries[5], longRetries[2]} {
				with(func(s *Settings) { s.Retry, s.Budget, s.BudgetCapacity = b, share, 20 })
			}
		}
	}
	if p.permits(UseLimiter) {
		breakers := []bool{false}
		if p.permits(UseBreaker) {
			breakers = append(breakers, true)
		}
		for _, breaks := range breakers {
			for _, paced := range pacedRetries {
				for _, b := range []Backoff{{}, shortRetries[2], shortRetries[4], longRetries[1]} {
					with(func(s *Settings) {
						s.Limiter, s.LimiterMax, s.Breaker, s.Retry, s.Paced = true, most, breaks, b, &paced
					})
				}
			}
		}
	}
	if p.Map == nil {
		return all
	}
	var maps []Settings
	for _, s := range all {
		for _, n := range p.concurrencies() {
			s.Concurrency = n
			maps = append(maps, s)
		}
	}
	return maps
}

// timeouts returns the timeouts that the search tries, in whole seconds: the first one is ten times the mean.
func (p *Problem) timeouts() []float64 {
	if p.Call.Timeout > 0 {
		return []float64{p.Call.Timeout}
	}
	var all []float64
	for _, factor := range []float64{10, 5, 20, 40} {
		s := math.Ceil(max(1, factor*p.Callee.Mean.High))
		if len(all) == 0 || s != all[len(all)-1] {
			all = append(all, s)
		}
	}
	return all
}

// concurrencies returns the values of MaxConcurrency that the search tries.
func (p *Problem) concurrencies() []int {
	if p.Map.Concurrency > 0 {
		return []int{p.Map.Concurrency}
	}
	low, high := max(1, math.Floor(p.Callee.Servers.Low)), max(1, math.Ceil(p.Callee.Servers.High))
	var all []int
	for _, n := range []float64{low, 1.5 * high, 3 * high, 0.7 * low} {
		c := int(min(max(1, math.Round(n)), 10_000))
		seen := false
		for _, x := range all {
			seen = seen || x == c
		}
		if !seen {
			all = append(all, c)
		}
	}
	return all
}

// neighbours returns variations of settings in one member each.
func (p *Problem) neighbours(s Settings) []Settings {
	var all []Settings
	with := func(f func(*Settings)) {
		n := s
		f(&n)
		if n.key() != s.key() {
			all = append(all, n)
		}
	}
	for _, t := range p.timeouts() {
		with(func(n *Settings) { n.Timeout = t })
	}
	if s.Retry.MaxAttempts > 0 {
		for _, factor := range []float64{0.5, 2} {
			with(func(n *Settings) { n.Retry.MaxAttempts = max(1, int(float64(n.Retry.MaxAttempts)*factor)) })
			with(func(n *Settings) {
				n.Retry.Interval = max(1, int(float64(n.Retry.Interval)*factor))
				n.Retry.MaxDelay = max(n.Retry.MaxDelay, n.Retry.Interval)
			})
			with(func(n *Settings) { n.Retry.MaxDelay = max(n.Retry.Interval, int(float64(n.Retry.MaxDelay)*factor)) })
		}
	}
	if s.Limiter {
		for _, factor := range []float64{1, 2, 4} {
			with(func(n *Settings) { n.LimiterMax = max(1, math.Round(p.Callee.Servers.Low*factor)) })
		}
		for _, paced := range []Backoff{{1, 1.5, 10, 100}, {5, 1.5, 30, 60}, {60, 1.5, 600, 20}} {
			with(func(n *Settings) { n.Paced = &paced })
		}
	}
	if s.Budget > 0 {
		for _, share := range []float64{0.05, 0.2, 1} {
			with(func(n *Settings) { n.Budget = share })
		}
		with(func(n *Settings) { n.BudgetCapacity = 100 })
	}
	if s.Concurrency > 0 && p.Map.Concurrency == 0 {
		for _, factor := range []float64{0.5, 0.85, 1.25, 2} {
			with(func(n *Settings) { n.Concurrency = max(1, int(math.Round(float64(n.Concurrency)*factor))) })
		}
	}
	return all
}

// removal is a simpler variant of settings.
type removal struct {
	what string
	then Settings
}

// removals returns the settings without one of their parts each.
func (p *Problem) removals(s Settings) []removal {
	var all []removal
	with := func(what string, f func(*Settings)) {
		n := s
		f(&n)
		if n.key() != s.key() {
			all = append(all, removal{what, n})
		}
	}
	if s.Breaker {
		with("the breaker", func(n *Settings) { n.Breaker = false })
	}
	if s.Limiter {
		with("the limiter with its waits", func(n *Settings) {
			n.Limiter, n.Breaker, n.Paced, n.LimiterMax = false, false, nil, 0
		})
		if standard := limiter.Standard().Max; s.LimiterMax < standard {
			with("the limiter's maximum", func(n *Settings) { n.LimiterMax = standard })
		}
	}
	if s.Budget > 0 {
		with("the budget", func(n *Settings) { n.Budget, n.BudgetCapacity = 0, 0 })
	}
	if s.Retry.MaxAttempts > 0 {
		with("the retries", func(n *Settings) { n.Retry = Backoff{} })
	}
	if s.Retry.MaxAttempts > 1 {
		with("half of the retries", func(n *Settings) { n.Retry.MaxAttempts /= 2 })
	}
	if p.Call.Timeout == 0 {
		with("the timeout", func(n *Settings) { n.Timeout = 0 })
	}
	if s.Concurrency > 0 && p.Map.Concurrency == 0 {
		with("the Map's MaxConcurrency (10,000 instead)", func(n *Settings) { n.Concurrency = 10_000 })
	}
	return all
}
