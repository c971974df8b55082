// Package policy defines how a laboratory run handles failures: the file format of policies, version 1, and the
// built-in policies. A policy defines which retries there are, what may refuse a retry or a call, what a refused call
// does, and whether a controller changes settings from outside. It decides nothing itself; package simulation
// executes policies.
package policy

import (
	"embed"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/limiter"
	"stepback/internal/strictyaml"
	"stepback/retry"
)

// Policy is a validated policy. A nil member is a mechanism that the policy does not have.
type Policy struct {
	Name, About string
	// Attempts selects the retriers: the scenario's, or none.
	Attempts Attempts
	// Override replaces the delays and attempts of every retrier that allows a retry.
	Override *retry.Policy
	// SDK repeats calls like a client of an AWS SDK: its attempts and waits replace those of every retrier that allows
	// a retry. Budget is then its quota. RetryAfter is the pause that the callee asks for, by the header
	// x-amz-retry-after, when it throttles; 0 if it sends no such header.
	SDK        *retry.SDK
	RetryAfter time.Duration
	// Durable repeats a record's work like a step of a durable function: its attempts and waits replace those of every
	// retrier that allows a retry.
	Durable *retry.Durable
	// Clients is the number of clients of the SDK, each with a quota of its own; records are spread over them at
	// random. 0 and 1 mean one client for all records.
	Clients int
	// Budget may refuse a retry after a failed attempt, before any wait.
	Budget *budget.Policy
	// Throttle, Breaker and Limiter refuse calls before they are made.
	Throttle *budget.ThrottlePolicy
	Breaker  *breaker.Policy
	Limiter  *limiter.Policy
	// Staleness is the maximum age of the breaker and limiter state that a process has read, if many processes
	// share them through a store (adaptive/shared). If it is 0, there is one breaker and one limiter, and all
	// processes know their state without delay.
	Staleness time.Duration
	// Deferral determines how long a refused record waits before it asks again; nil dead-letters it.
	Deferral *retry.Policy
	// Brief replaces Deferral for a record that the limiter refuses for the moment (limiter.State.Momentary), if it was
	// retried fewer times than Brief allows; nil if Deferral always applies.
	Brief *retry.Policy
	// DefersFailures also defers a call that failed by load while the circuit is not closed or the limit is at its
	// minimum: the callee is down, and the record's own retries are saved for later.
	DefersFailures bool
	// Poison tells records that always fail from a service that is ill. A record whose next retry is futile is a dead
	// letter. One that fails after as many retries as its retrier allows is deferred while the service fails
	// others as well.
	Poison bool
	// Controller changes retriers and the concurrency of Maps from outside.
	Controller *Controller
	// Redrive begins dead letters again when the callee is well.
	Redrive *Redrive
	// Oracle starts a call only if a server is free and there is no outage. No real client can know this, so the
	// policy's results are an upper bound.
	Oracle bool
}

// Attempts selects the retriers.
type Attempts string

// The retriers of the scenario, or none.
const (
	FromScenario Attempts = "scenario"
	NoRetries    Attempts = "none"
)

// Controller configures the controller outside the run; see adaptive/controller.
type Controller struct {
	// Retry lets the controller change retriers for future executions. MapRun lets it change the concurrency of
	// running Maps.
	Retry, MapRun bool
}

// Redrive begins dead letters again, as an operator does with stepback redrive or deadletters redrive. It begins when
// in each of the last Quiet, in steps of ten seconds, at most a tenth of the records that ended became dead letters,
// and continues until no dead letter is left. A redriven record is a new execution, under the Retry block of that time.
type Redrive struct {
	// Quiet is at least ten seconds; 5 minutes by default.
	Quiet time.Duration
	// Rate is the number of dead letters that begin in a second. If it is 0, the pace is learned (package
	// adaptive/pacing). If it is +Inf, all begin at once, and those that are left again after the next quiet time.
	Rate float64
	// Attempts is the number of times that a dead letter is redriven at most; 5 by default.
	Attempts int
}

// Parse parses a policy. file is used only in problems. The error is of type strictyaml.Problems.
func Parse(file string, text []byte) (*Policy, error) {
	reader, root := strictyaml.Read(file, text)
	p := read(root)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func read(root strictyaml.Value) *Policy {
	o := root.Object("policy", "name", "about", "retry", "sdk", "durable", "budget", "throttle", "breaker", "limiter",
		"staleness", "deferral", "poison", "controller", "redrive", "oracle")
	if v := o.Need("policy"); v.Present() && v.Whole(0, 1<<30) != 1 {
		v.Problem("only version 1 of the format is supported; write policy: 1")
	}
	p := &Policy{
		Name: o.Need("name").Name(), About: o.Get("about").Text(500), Attempts: FromScenario,
		Oracle: o.Get("oracle").Bool(),
	}
	readRetry(o.Get("retry"), p)
	if v := o.Get("budget"); v.Present() {
		p.Budget = readBudget(v)
	}
	if v := o.Get("sdk"); v.Present() {
		if p.Override != nil || p.Budget != nil || o.Get("retry").Present() {
			v.Problem("an SDK has attempts, waits and a quota of its own; leave retry and budget out")
		}
		readSDK(v, p)
	}
	if v := o.Get("durable"); v.Present() {
		if p.SDK != nil || p.Override != nil || o.Get("retry").Present() {
			v.Problem("a step of a durable function has attempts and waits of its own; leave retry and sdk out")
		}
		p.Durable = readDurable(v)
	}
	if v := o.Get("throttle"); v.Present() {
		t := v.Object("k", "window")
		sre := budget.SRE(t.Get("k").NumberOr(2, 1, 100))
		sre.Window = t.Get("window").DurationOr(sre.Window, time.Second, time.Hour)
		p.Throttle = &sre
	}
	if v := o.Get("breaker"); v.Present() {
		p.Breaker = readBreaker(v)
	}
	if v := o.Get("limiter"); v.Present() {
		p.Limiter = readLimiter(v)
	}
	if v := o.Get("staleness"); v.Present() {
		p.Staleness = v.DurationOr(time.Second, time.Millisecond, time.Hour)
		if p.Breaker == nil || p.Limiter == nil {
			v.Problem("shared needs a breaker and a limiter; give both, or leave staleness out")
		}
	}
	readDeferral(o.Get("deferral"), p)
	v := o.Get("poison")
	if p.Poison = v.Bool(); p.Poison && p.Deferral == nil {
		v.Problem("a record that is not to blame waits; give a deferral too")
	}
	if v := o.Get("controller"); v.Present() {
		c := v.Object("retry", "mapRun")
		p.Controller = &Controller{Retry: c.Get("retry").Bool(), MapRun: c.Get("mapRun").Bool()}
	}
	if v := o.Get("redrive"); v.Present() {
		p.Redrive = readRedrive(v)
	}
	return p
}

func readRedrive(v strictyaml.Value) *Redrive {
	o := v.Object("quiet", "rate", "attempts")
	r := &Redrive{
		Quiet:    o.Get("quiet").DurationOr(5*time.Minute, 10*time.Second, 24*time.Hour),
		Attempts: o.Get("attempts").WholeOr(5, 1, 1000),
	}
	switch rate := o.Get("rate"); {
	case !rate.Present() || rate.Is("auto"):
	case rate.Is("all"):
		r.Rate = math.Inf(1)
	default:
		if r.Rate = rate.NumberOr(0, 0, 1e6); r.Rate == 0 {
			rate.Problem("give auto, all, or a number of dead letters a second above 0")
		}
	}
	return r
}

func readRetry(v strictyaml.Value, p *Policy) {
	if v.IsObject() {
		override := scenario.Policy(v.Object("interval", "rate", "maxDelay", "maxAttempts", "jitter", "jitterFactor"),
			3)
		p.Override = &override
		return
	}
	if v.Present() {
		p.Attempts = Attempts(v.OneOf(string(FromScenario), string(NoRetries)))
	}
}

// readSDK parses the generation of an AWS SDK (2025 or 2026) and a service with numbers of its own (dynamodb), with
// members that override the number of attempts, and set the number of clients and the pause that the callee asks for.
func readSDK(v strictyaml.Value, p *Policy) {
	o := v.Object("generation", "service", "maxAttempts", "retryAfter", "clients")
	sdk := retry.SDK2026()
	generation, service := o.Need("generation"), o.Get("service")
	dynamoDB := service.Present() && service.OneOf("dynamodb") != ""
	switch g := generation.Whole(2025, 2026); {
	case g == 2025:
		sdk = retry.SDK2025()
		if dynamoDB {
			service.Problem("the SDKs of 2025 have no numbers of their own for dynamodb; leave service out")
		}
		if asked := o.Get("retryAfter"); asked.Present() {
			asked.Problem("the SDKs of 2025 ignore x-amz-retry-after; leave retryAfter out")
		}
	case dynamoDB:
		sdk = retry.SDK2026DynamoDB()
	}
	sdk.MaxAttempts = o.Get("maxAttempts").WholeOr(sdk.MaxAttempts, 1, 1000)
	p.RetryAfter = o.Get("retryAfter").DurationOr(0, 0, time.Hour)
	p.Clients = o.Get("clients").WholeOr(1, 1, 100_000)
	quota := budget.SDK(sdk)
	p.SDK, p.Budget = &sdk, &quota
}

// readDurable parses a preset of AWS's durable execution SDKs, with members that override its numbers.
func readDurable(v strictyaml.Value) *retry.Durable {
	o := v.Object("preset", "maxAttempts", "initialDelay", "maxDelay", "rate", "increment", "jitter")
	name := "default"
	if preset := o.Get("preset"); preset.Present() {
		name = preset.OneOf(retry.DurablePresets()...)
	}
	d, _ := retry.DurablePreset(name) // OneOf has reported another name
	const longest = 366 * 24 * time.Hour
	d.MaxAttempts = o.Get("maxAttempts").WholeOr(d.MaxAttempts, 1, 3000)
	d.InitialDelay = o.Get("initialDelay").DurationOr(d.InitialDelay, time.Second, longest)
	d.MaxDelay = o.Get("maxDelay").DurationOr(d.MaxDelay, time.Second, longest)
	d.Rate = o.Get("rate").NumberOr(d.Rate, 1, 1000)
	increment := o.Get("increment")
	if d.Increment = increment.DurationOr(d.Increment, time.Second, longest); increment.Present() && o.Get("rate").Present() {
		increment.Problem("a delay grows either by a rate or by an increment; give one of them")
	}
	if jitter := o.Get("jitter"); jitter.Present() {
		d.Jitter = map[string]retry.Jitter{"NONE": retry.JitterNone, "HALF": retry.JitterPartial,
			"FULL": retry.JitterFull}[jitter.OneOf("NONE", "HALF", "FULL")]
	}
	return &d
}

// ClientAttempts returns the number of attempts of a client that has its own, as SDK and Durable have. ok is false if
// the retriers decide.
func (p *Policy) ClientAttempts() (n int, ok bool) {
	switch {
	case p.SDK != nil:
		return p.SDK.MaxAttempts, true
	case p.Durable != nil:
		return p.Durable.MaxAttempts, true
	}
	return 0, false
}

// readBudget parses a preset (bucket, sdk-2025, sdk-2026, grpc, finagle, source) with members that override its
// numbers.
func readBudget(v strictyaml.Value) *budget.Policy {
	o := v.Object("preset", "capacity", "window", "perRequest", "perSuccess", "perSecond", "refund", "perRefund",
		"retryCost", "timeoutCost", "throttleCost", "failureCost", "threshold")
	b := map[string]func() budget.Policy{
		"bucket": budget.Bucket, "grpc": budget.GRPC, "finagle": budget.Finagle, "source": budget.Standard,
		"sdk-2025": func() budget.Policy { return budget.SDK(retry.SDK2025()) },
		"sdk-2026": func() budget.Policy { return budget.SDK(retry.SDK2026()) },
	}[o.Get("preset").OneOf("bucket", "sdk-2025", "sdk-2026", "grpc", "finagle", "source")]()
	for name, field := range map[string]*float64{
		"capacity": &b.Capacity, "perRequest": &b.PerRequest, "perSuccess": &b.PerSuccess, "perSecond": &b.PerSecond,
		"perRefund": &b.PerRefund, "retryCost": &b.RetryCost, "timeoutCost": &b.TimeoutCost,
		"throttleCost": &b.ThrottleCost, "failureCost": &b.FailureCost, "threshold": &b.Threshold,
	} {
		*field = o.Get(name).NumberOr(*field, 0, 1e9)
	}
	b.Window = o.Get("window").DurationOr(b.Window, 0, time.Hour)
	if r := o.Get("refund"); r.Present() {
		b.Refund = r.Bool()
	}
	valid(v, b.Validate())
	return &b
}

// readBreaker parses a preset (callee or source) with members that override its numbers.
func readBreaker(v strictyaml.Value) *breaker.Policy {
	o := v.Object("preset", "consecutiveFailures", "failingFor", "chance", "failureRate", "minimumRequests",
		"minimumFailures", "window", "openFirst", "openFor", "halfOpenConcurrency", "successThreshold", "halfOpenFailures", "probeTimeout")
	b := breaker.Callee()
	if o.Get("preset").OneOf("callee", "source") == "source" {
		b = breaker.Conservative()
	}
	for name, field := range map[string]*int{
		"consecutiveFailures": &b.ConsecutiveFailures, "minimumRequests": &b.MinimumRequests,
		"minimumFailures":     &b.MinimumFailures,
		"halfOpenConcurrency": &b.HalfOpenConcurrency, "successThreshold": &b.SuccessThreshold,
		"halfOpenFailures": &b.HalfOpenFailures,
	} {
		*field = o.Get(name).WholeOr(*field, 0, 1e6)
	}
	b.FailingFor = o.Get("failingFor").DurationOr(b.FailingFor, 0, 24*time.Hour)
	b.Chance = o.Get("chance").NumberOr(b.Chance, 0, 1)
	b.FailureRate = o.Get("failureRate").NumberOr(b.FailureRate, 0, 1)
	b.Window = o.Get("window").DurationOr(b.Window, time.Second, time.Hour)
	b.OpenFor = o.Get("openFor").DurationOr(b.OpenFor, time.Millisecond, 24*time.Hour)
	b.OpenFirst = o.Get("openFirst").DurationOr(min(b.OpenFirst, b.OpenFor), 0, 24*time.Hour)
	b.ProbeTimeout = o.Get("probeTimeout").DurationOr(b.ProbeTimeout, time.Millisecond, 24*time.Hour)
	valid(v, b.Validate())
	return &b
}

func readLimiter(v strictyaml.Value) *limiter.Policy {
	o := v.Object("initial", "min", "max", "increase", "decrease", "decreaseEvery", "permitTimeout")
	l := limiter.Standard()
	for name, field := range map[string]*float64{
		"initial": &l.Initial, "min": &l.Min, "max": &l.Max, "increase": &l.Increase, "decrease": &l.Decrease,
	} {
		*field = o.Get(name).NumberOr(*field, 0, 1e6)
	}
	l.DecreaseEvery = o.Get("decreaseEvery").DurationOr(l.DecreaseEvery, 0, time.Hour)
	l.PermitTimeout = o.Get("permitTimeout").DurationOr(l.PermitTimeout, time.Millisecond, 24*time.Hour)
	valid(v, l.Validate())
	return &l
}

func valid(v strictyaml.Value, err error) {
	if err != nil {
		v.Problem("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

func readDeferral(v strictyaml.Value, p *Policy) {
	if !v.Present() {
		return
	}
	o := v.Object("interval", "rate", "maxDelay", "maxAttempts", "jitter", "jitterFactor", "failures", "brief")
	d := scenario.Policy(o, 20)
	p.Deferral, p.DefersFailures = &d, o.Get("failures").Bool()
	if b := o.Get("brief"); b.Present() {
		brief := scenario.Policy(b.Object("interval", "rate", "maxDelay", "maxAttempts", "jitter", "jitterFactor"), 2)
		if p.Brief = &brief; p.Limiter == nil {
			b.Problem("without a limiter no call is refused for the moment; leave brief out")
		}
	}
	if f := o.Get("failures"); f.Present() && p.Breaker == nil && p.Limiter == nil {
		f.Problem("without a breaker or limiter the callee's outage is not noticed; leave failures out")
	}
	if p.Budget == nil && p.Throttle == nil && p.Breaker == nil && p.Limiter == nil {
		v.Problem("this policy refuses no calls, so none are deferred; leave deferral out")
	}
}

//go:embed files/*.yaml
var files embed.FS

// order lists the policies in the order in which they are shown: from doing nothing to doing everything.
var order = []string{
	"none", "static", "bucket", "sdk-2025", "sdk-2026", "durable", "durable-half", "durable-unjittered", "budget-20", "sre-k2", "breaker", "aimd", "controller",
	"controller-redrive", "controller-herd", "adaptive", "oracle",
}

// Names returns the names of the built-in policies.
func Names() []string { return slices.Clone(order) }

// Named returns a built-in policy.
func Named(name string) (*Policy, error) {
	if !slices.Contains(order, name) {
		return nil, fmt.Errorf("there is no policy %q; use %s, or a file that ends in .yaml", name,
			strings.Join(order, ", "))
	}
	text, err := files.ReadFile(path.Join("files", name+".yaml"))
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", text)
}

// Text returns the file of a built-in policy, which can serve as a template for a new one.
func Text(name string) (string, error) {
	text, err := files.ReadFile(path.Join("files", path.Base(name)+".yaml"))
	if err != nil {
		return "", fmt.Errorf("there is no policy %q; there is %s", name, strings.Join(order, ", "))
	}
	return string(text), nil
}
