package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stepback/asl"
)

// Question holds the assumptions about executions of a definition.
type Question struct {
	// Express is true for a state machine of type EXPRESS, which has no distributed Map.
	Express bool
	// Items is the number of items of each Map. If a Map batches items, each child execution gets one batch.
	Items int64
	// Faults are the shares of attempts that fail, by state and error name: Faults["Pay"]["TimeoutError"] = 0.01.
	Faults map[string]map[string]float64
}

// Execution holds the resources that one execution uses.
type Execution struct {
	Transitions   float64 `json:"transitions"`      // of STANDARD executions: the start, and each state entered
	Express       float64 `json:"express"`          // EXPRESS executions
	Invocations   float64 `json:"invocations"`      // Lambda invocations
	Retries       float64 `json:"retries"`          // additional attempts to expect from the faults
	RetryInvoke   float64 `json:"retryInvocations"` // those of the retries that are Lambda invocations
	WorstRetries  float64 `json:"worstRetries"`     // additional attempts if each task exhausts its longest retrier
	unpaidRetries float64 // retries within EXPRESS executions, which are not charged separately
	unpaidWorst   float64
}

// Answer holds the least and the most that one execution can use, depending on the branches that Choice states
// take.
type Answer struct {
	Least Execution `json:"least"`
	Most  Execution `json:"most"`
	// Loops is true if states can be entered more than once. They are counted once.
	Loops bool `json:"loops,omitempty"`
}

// OfDefinition computes what an execution of a state machine uses. Paths through Catch are not followed. It returns an
// error if q.Express is true and the definition has a distributed Map: AWS refuses it, and its children would be
// executions with a price of their own.
func OfDefinition(m *asl.Machine, q Question) (Answer, error) {
	q.Items = max(q.Items, 1)
	var a Answer
	for _, end := range []struct {
		to   *Execution
		most bool
	}{{&a.Least, false}, {&a.Most, true}} {
		w := walk{Question: q, most: end.most}
		u := w.graph(&m.Graph, float64(q.Items))
		if w.distributed != "" {
			return Answer{}, fmt.Errorf("state %q is a distributed Map, which a state machine of type EXPRESS cannot have", w.distributed)
		}
		u.Transitions++ // for the start
		if q.Express {
			u = u.express()
		}
		*end.to, a.Loops = u, a.Loops || w.loops
	}
	return a, nil
}

// express converts the usage to that of an EXPRESS execution: one request, and no transitions.
func (e Execution) express() Execution {
	e.Express++
	e.Transitions = 0
	e.unpaidRetries, e.unpaidWorst = e.Retries, e.WorstRetries
	return e
}

func (e Execution) times(n float64) Execution {
	return Execution{e.Transitions * n, e.Express * n, e.Invocations * n, e.Retries * n, e.RetryInvoke * n,
		e.WorstRetries * n, e.unpaidRetries * n, e.unpaidWorst * n}
}

func (e Execution) plus(f Execution) Execution {
	return Execution{e.Transitions + f.Transitions, e.Express + f.Express, e.Invocations + f.Invocations,
		e.Retries + f.Retries, e.RetryInvoke + f.RetryInvoke, e.WorstRetries + f.WorstRetries,
		e.unpaidRetries + f.unpaidRetries, e.unpaidWorst + f.unpaidWorst}
}

// weight returns the number by which paths through a state machine are compared.
func (e Execution) weight() float64 { return e.Transitions + e.Express + e.Invocations }

// walk follows a path through a state machine: the one with the most usage if most is set, otherwise the one with
// the least.
type walk struct {
	Question
	most  bool
	loops bool
	// distributed is the name of a distributed Map in a state machine of type EXPRESS.
	distributed string
}

// graph returns the usage of one path through a graph. items is the number of items of each Map in it.
func (w *walk) graph(g *asl.Graph, items float64) Execution {
	return w.from(g, g.StartAt, items, map[string]bool{}, map[string]Execution{})
}

func (w *walk) from(g *asl.Graph, name string, items float64, way map[string]bool,
	known map[string]Execution) Execution {
	s := g.State(name)
	if s == nil {
		return Execution{}
	}
	if way[name] {
		w.loops = true
		return Execution{}
	}
	if u, ok := known[name]; ok {
		return u
	}
	way[name] = true
	u := w.state(s, items)
	switch {
	case s.Type == asl.Choice:
		u = u.plus(w.choose(g, s, items, way, known))
	case s.Next != "":
		u = u.plus(w.from(g, s.Next, items, way, known))
	}
	delete(way, name)
	known[name] = u
	return u
}

// choose returns the usage of a Choice state's branch with the least or the most weight.
func (w *walk) choose(g *asl.Graph, s *asl.State, items float64, way map[string]bool,
	known map[string]Execution) Execution {
	targets := make([]string, 0, len(s.Choices)+1)
	for i := range s.Choices {
		targets = append(targets, s.Choices[i].Next)
	}
	if s.Default != "" {
		targets = append(targets, s.Default)
	}
	var best Execution
	found := false
	for _, target := range targets {
		if way[target] {
			w.loops = true
			continue
		}
		u := w.from(g, target, items, way, known)
		if !found || w.most == (u.weight() > best.weight()) && u.weight() != best.weight() {
			best, found = u, true
		}
	}
	return best
}

// state returns the usage of one state, without the states that follow it.
func (w *walk) state(s *asl.State, items float64) Execution {
	u := Execution{Transitions: 1}
	switch s.Type {
	case asl.Task:
		w.task(s, &u)
	case asl.Parallel:
		for _, b := range s.Branches {
			u = u.plus(w.graph(b, items))
		}
		u.WorstRetries += most(s.Retry)
	case asl.Map:
		u = u.plus(w.mapped(s, items))
	default:
	}
	return u
}

func (w *walk) task(s *asl.State, u *Execution) {
	function := strings.Contains(s.Resource, ":lambda:")
	if function {
		u.Invocations = 1
	}
	for name, rate := range w.Faults[s.Name] {
		n := retriesOf(s.Retry, name)
		retries := Expected(rate, n)
		u.Retries += retries
		switch {
		case function && Refused(name): // each retry follows an attempt that was not invoked
			u.Invocations = max(u.Invocations-math.Pow(rate, float64(n)+1), 0)
		case function:
			u.RetryInvoke += retries
		}
	}
	u.WorstRetries = most(s.Retry)
}

// mapped returns the usage of a Map's items.
func (w *walk) mapped(s *asl.State, items float64) Execution {
	m := s.Map
	if m == nil || m.Processor == nil {
		return Execution{}
	}
	if !m.Distributed {
		return w.graph(m.Processor, items).times(items)
	}
	if w.Express {
		w.distributed = s.Name
	}
	batch := 1.0
	if b := m.Batcher; b != nil && b.MaxItemsPerBatch.Literal != nil {
		if n := b.MaxItemsPerBatch.Literal.Float(); n >= 1 {
			batch = n
		}
	}
	child := w.graph(m.Processor, min(batch, items))
	child.Transitions++ // the child's start
	if m.Execution == "EXPRESS" {
		child = child.express()
	}
	return child.times(math.Ceil(items / batch))
}

// retriesOf returns how many times an error is retried.
func retriesOf(retry []asl.Retrier, name string) int64 {
	for i := range retry {
		for _, e := range retry[i].ErrorEquals {
			if e == name || e == "States.ALL" || e == "States.TaskFailed" && name != "States.Timeout" {
				return retry[i].MaxAttempts
			}
		}
	}
	return 0
}

// Refused reports whether an error means that Lambda refused the invocation, which it does not charge for.
func Refused(name string) bool {
	return name == "Lambda.TooManyRequestsException" || name == "Lambda.ThrottledException"
}

// Expected returns how many of at most n retries to expect if every attempt fails with probability rate.
func Expected(rate float64, n int64) float64 {
	if rate >= 1 {
		return float64(n)
	}
	return rate * (1 - math.Pow(rate, float64(n))) / (1 - rate)
}

// most returns the largest MaxAttempts of a state's retriers.
func most(retry []asl.Retrier) float64 {
	counts := append(make([]int64, 0, 1+len(retry)), 0)
	for i := range retry {
		counts = append(counts, retry[i].MaxAttempts)
	}
	return float64(slices.Max(counts))
}

// billed returns the seconds billed for an EXPRESS execution: rounded up to tenths of a second.
func billed(seconds float64) float64 {
	const nearly = 1e-9 // keeps rounding errors from adding a tenth
	return math.Ceil(seconds*10-nearly) / 10
}

// Items returns the costs of n executions. seconds is the duration of an invocation at memoryMB, and also the time
// that an EXPRESS execution takes for each of its invocations.
func (e Execution) Items(n, seconds float64, memoryMB int, p Prices) []Item {
	transitions, retries := e.Transitions*n, (e.Retries-e.unpaidRetries)*n
	compute := (e.Invocations + e.RetryInvoke) * n * seconds * float64(memoryMB) / mebibytesPerGB
	items := []Item{
		{"Step Functions, transitions", transitions, "", transitions / thousand * p.Transitions},
		{"Step Functions, retries", retries, "", retries / thousand * p.Transitions},
	}
	if e.Express > 0 {
		duration := expressGB * n * e.Express * billed(expressSeconds+
			((e.Invocations+e.RetryInvoke)*seconds+e.unpaidRetries*retryWait)/e.Express)
		items = append(items,
			Item{"Step Functions, EXPRESS executions", e.Express * n, "", e.Express * n / million * p.ExpressRequests},
			Item{"Step Functions, EXPRESS duration", duration, "GB-seconds", duration * p.ExpressGBSecond})
	}
	return append(items,
		Item{"Lambda, invocations", e.Invocations * n, "", e.Invocations * n / million * p.Invocations},
		Item{"Lambda, invocations of retries", e.RetryInvoke * n, "", e.RetryInvoke * n / million * p.Invocations},
		Item{"Lambda, compute", compute, "GB-seconds", compute * p.GBSecond})
}

// Worst returns the cost in USD that retries add to n executions if each task exhausts its longest retrier.
func (e Execution) Worst(n float64, p Prices) float64 {
	return (e.WorstRetries - e.unpaidWorst) * n / thousand * p.Transitions
}
