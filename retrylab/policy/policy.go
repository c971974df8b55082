// Package policy is what a laboratory run does about failures: the file format of policies, version 1, and the set that comes
// along. A policy says which retries there are, what may refuse a retry or a call, what a refused call does, and whether a
// controller changes settings from outside. It decides nothing itself; package simulation carries policies out.
package policy

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stepback/retrylab/scenario"
	"stepback/retrylab/strictyaml"
	"stepback/retrypatterns"
)

// Policy is a validated policy. A nil member is a mechanism that it does not have.
type Policy struct {
	Name, About string
	// Attempts says whose retriers count.
	Attempts Attempts
	// Override replaces the delays and attempts of every retrier that retries at all.
	Override *retrypatterns.Policy
	// Bucket and Budget refuse retries when an attempt has failed, before any wait.
	Bucket *Bucket
	Budget *Budget
	// Throttle, Breaker and Limiter refuse calls before they are made.
	Throttle *Throttle
	Breaker  *Breaker
	Limiter  *Limiter
	// Deferral is how what was refused waits until it asks again; nil makes a dead letter of it.
	Deferral *retrypatterns.Policy
	// Controller changes retriers and the concurrency of Maps from outside.
	Controller *Controller
	// Oracle begins a call only when a server is free and no outage goes on, which no real client can know: a ceiling.
	Oracle bool
}

// Attempts says whose retriers count.
type Attempts string

// The retriers of the scenario, or none.
const (
	FromScenario Attempts = "scenario"
	NoRetries    Attempts = "none"
)

// Bucket is a token bucket for retries, shared by all callers of a service. First attempts are free.
type Bucket struct {
	// Tokens is its size; it starts full.
	Tokens float64
	// Deposit is what a success puts in; Cost and TimeoutCost what a retry after an error or a timeout takes out.
	Deposit, Cost, TimeoutCost float64
	// Refund has the success of a retry put back its cost instead of Deposit.
	Refund bool
}

// Budget lets retries be a share of requests: over Window, at most Floor per second and Ratio of all first attempts.
type Budget struct {
	Ratio, Floor float64
	Window       time.Duration
}

// Throttle is the SRE book's: it refuses calls with probability max(0, (requests − K·accepts)/(requests + 1)) over Window.
type Throttle struct {
	K      float64
	Window time.Duration
}

// Breaker is a circuit breaker in front of a service, shared by all callers; see adaptive/breaker.
type Breaker struct {
	FailureRate     float64
	MinimumRequests int
	Window, OpenFor time.Duration
	// Probes is how many calls a half-open circuit admits at first; SlowStart doubles it with every full round of successes.
	Probes    int
	SlowStart bool
}

// Limiter bounds the calls in flight to a service, shared by all callers; see adaptive/limiter.
type Limiter struct {
	Initial, Min, Max float64
	// Decrease is the factor on a load-type failure, at most once per Every; every success adds 1/limit.
	Decrease float64
	Every    time.Duration
	// Staleness is how old the shared state may be that a caller decides by; Callers is how many keep a copy of their own.
	Staleness time.Duration
	Callers   int
}

// Controller is the one outside the run; see adaptive/controller.
type Controller struct {
	// Retry lets it change retriers for executions to come, MapRun the concurrency of running Maps.
	Retry, MapRun bool
}

// Parse reads a policy. The file's name only stands in problems; the error is strictyaml.Problems.
func Parse(file string, text []byte) (*Policy, error) {
	reader, root := strictyaml.Read(file, text)
	p := read(root)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func read(root strictyaml.Value) *Policy {
	o := root.Object("policy", "name", "about", "retry", "bucket", "budget", "throttle", "breaker", "limiter", "deferral",
		"controller", "oracle")
	if v := o.Need("policy"); v.Present() && v.Whole(0, 1<<30) != 1 {
		v.Problem("only version 1 of the format is known; write policy: 1")
	}
	p := &Policy{
		Name: o.Need("name").Name(), About: o.Get("about").Text(500), Attempts: FromScenario, Oracle: o.Get("oracle").Bool(),
	}
	readRetry(o.Get("retry"), p)
	if v := o.Get("bucket"); v.Present() {
		p.Bucket = readBucket(v)
	}
	if v := o.Get("budget"); v.Present() {
		b := v.Object("ratio", "floor", "window")
		p.Budget = &Budget{
			Ratio: b.Get("ratio").NumberOr(0.2, 0, 10), Floor: b.Get("floor").NumberOr(10, 0, 1e6),
			Window: b.Get("window").DurationOr(10*time.Second, time.Second, time.Hour),
		}
	}
	if v := o.Get("throttle"); v.Present() {
		t := v.Object("k", "window")
		p.Throttle = &Throttle{
			K: t.Get("k").NumberOr(2, 1, 100), Window: t.Get("window").DurationOr(2*time.Minute, time.Second, time.Hour),
		}
	}
	if v := o.Get("breaker"); v.Present() {
		p.Breaker = readBreaker(v)
	}
	if v := o.Get("limiter"); v.Present() {
		p.Limiter = readLimiter(v)
	}
	readDeferral(o.Get("deferral"), p)
	if v := o.Get("controller"); v.Present() {
		c := v.Object("retry", "mapRun")
		p.Controller = &Controller{Retry: c.Get("retry").Bool(), MapRun: c.Get("mapRun").Bool()}
	}
	return p
}

func readRetry(v strictyaml.Value, p *Policy) {
	if v.IsObject() {
		override := scenario.Policy(v.Object("interval", "rate", "maxDelay", "maxAttempts", "jitter", "jitterFactor"), 3)
		p.Override = &override
		return
	}
	if v.Present() {
		p.Attempts = Attempts(v.OneOf(string(FromScenario), string(NoRetries)))
	}
}

func readBucket(v strictyaml.Value) *Bucket {
	o := v.Object("tokens", "deposit", "cost", "timeoutCost", "refund")
	b := &Bucket{
		Tokens: o.Get("tokens").NumberOr(5, 0, 1e9), Deposit: o.Get("deposit").NumberOr(0.1, 0, 1e6),
		Cost: o.Get("cost").NumberOr(1, 0, 1e6), Refund: o.Get("refund").Bool(),
	}
	b.TimeoutCost = o.Get("timeoutCost").NumberOr(b.Cost, 0, 1e6)
	return b
}

func readBreaker(v strictyaml.Value) *Breaker {
	o := v.Object("failureRate", "minimumRequests", "window", "openFor", "probes", "slowStart")
	return &Breaker{
		FailureRate: o.Get("failureRate").NumberOr(0.5, 0.001, 1), MinimumRequests: o.Get("minimumRequests").WholeOr(20, 1, 1e6),
		Window:  o.Get("window").DurationOr(time.Minute, time.Second, time.Hour),
		OpenFor: o.Get("openFor").DurationOr(30*time.Second, time.Millisecond, 24*time.Hour),
		Probes:  o.Get("probes").WholeOr(1, 1, 1000), SlowStart: o.Get("slowStart").Bool(),
	}
}

func readLimiter(v strictyaml.Value) *Limiter {
	o := v.Object("initial", "min", "max", "decrease", "every", "staleness", "callers")
	l := &Limiter{
		Initial: o.Get("initial").NumberOr(10, 1, 1e6), Min: o.Get("min").NumberOr(1, 1, 1e6), Max: o.Get("max").NumberOr(1000, 1, 1e6),
		Decrease: o.Get("decrease").NumberOr(0.8, 0.01, 0.999), Every: o.Get("every").DurationOr(time.Second, 0, time.Hour),
		Staleness: o.Get("staleness").DurationOr(0, 0, time.Hour), Callers: o.Get("callers").WholeOr(10, 1, 10_000),
	}
	if l.Min > l.Initial || l.Initial > l.Max {
		v.Problem("min %v, initial %v and max %v are not in this order", l.Min, l.Initial, l.Max)
	}
	return l
}

func readDeferral(v strictyaml.Value, p *Policy) {
	if !v.Present() {
		return
	}
	d := scenario.Policy(v.Object("interval", "rate", "maxDelay", "maxAttempts", "jitter", "jitterFactor"), 20)
	p.Deferral = &d
	if p.Bucket == nil && p.Budget == nil && p.Throttle == nil && p.Breaker == nil && p.Limiter == nil {
		v.Problem("nothing of this policy refuses anything, so nothing is deferred; leave deferral out")
	}
}

//go:embed files/*.yaml
var files embed.FS

// order is how the set is listed: from doing nothing to doing everything.
var order = []string{
	"none", "static", "bucket", "sdk-standard", "budget-20", "sre-k2", "breaker", "aimd", "controller", "adaptive", "oracle",
}

// Names returns the names of the policies that come along.
func Names() []string { return slices.Clone(order) }

// Named returns a policy that comes along.
func Named(name string) (*Policy, error) {
	if !slices.Contains(order, name) {
		return nil, fmt.Errorf("there is no policy %q; there is %s, or give a file that ends in .yaml", name, strings.Join(order, ", "))
	}
	text, err := files.ReadFile(path.Join("files", name+".yaml"))
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", text)
}

// Text returns the file of a policy that comes along, to begin one's own with.
func Text(name string) (string, error) {
	text, err := files.ReadFile(path.Join("files", path.Base(name)+".yaml"))
	if err != nil {
		return "", fmt.Errorf("there is no policy %q; there is %s", name, strings.Join(order, ", "))
	}
	return string(text), nil
}
