package cost

import (
	"math"
	"slices"
	"strings"

	"stepback/asl"
)

// Question is what is asked of a definition.
type Question struct {
	// Express is a state machine of type EXPRESS.
	Express bool
	// Items is how many items each Map has; a child execution of a Map that batches has a batch.
	Items int64
	// Faults are shares of attempts that fail, by state and error name: Faults["Pay"]["TimeoutError"] = 0.01.
	Faults map[string]map[string]float64
}

// Execution is what one execution uses.
type Execution struct {
	Transitions   float64 `json:"transitions"`      // of STANDARD executions: the start, and each state that is entered
	Express       float64 `json:"express"`          // EXPRESS executions
	Invocations   float64 `json:"invocations"`      // of functions
	Retries       float64 `json:"retries"`          // attempts more, as the faults lead one to expect
	RetryInvoke   float64 `json:"retryInvocations"` // of these, invocations of functions
	WorstRetries  float64 `json:"worstRetries"`     // attempts more when each task uses its longest retrier up
	unpaidRetries float64 // retries within EXPRESS executions, which have no price of their own
	unpaidWorst   float64
}

// Answer is what one execution uses at least and at most, by the branches that Choice states take.
type Answer struct {
	Least Execution `json:"least"`
	Most  Execution `json:"most"`
	// Loops tells that states can be entered again. They are counted once.
	Loops bool `json:"loops,omitempty"`
}

// OfDefinition computes what an execution of a machine uses. Failures that are caught are not followed.
func OfDefinition(m *asl.Machine, q Question) Answer {
	q.Items = max(q.Items, 1)
	var a Answer
	for _, end := range []struct {
		to   *Execution
		most bool
	}{{&a.Least, false}, {&a.Most, true}} {
		w := walk{Question: q, most: end.most}
		u := w.graph(&m.Graph, float64(q.Items))
		u.Transitions++ // the start
		if q.Express {
			u = u.express()
		}
		*end.to, a.Loops = u, a.Loops || w.loops
	}
	return a
}

// express is what the same costs as an EXPRESS execution: one of these, and no transitions.
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

// weight orders ways through a machine.
func (e Execution) weight() float64 { return e.Transitions + e.Express + e.Invocations }

// walk goes through a machine on the way of the least or the most transitions.
type walk struct {
	Question
	most  bool
	loops bool
}

// graph is what one way through a graph uses, whose Maps have so many items.
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

// choose is the branch of a Choice state that the walk looks for.
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

// state is what one state uses by itself.
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
		case function && Refused(name): // each retry takes the place of an attempt that was no invocation
			u.Invocations = max(u.Invocations-math.Pow(rate, float64(n)+1), 0)
		case function:
			u.RetryInvoke += retries
		}
	}
	u.WorstRetries = most(s.Retry)
}

// mapped is what the items of a Map use.
func (w *walk) mapped(s *asl.State, items float64) Execution {
	m := s.Map
	if m == nil || m.Processor == nil {
		return Execution{}
	}
	if !m.Distributed {
		return w.graph(m.Processor, items).times(items)
	}
	batch := 1.0
	if b := m.Batcher; b != nil && b.MaxItemsPerBatch.Literal != nil {
		if n := b.MaxItemsPerBatch.Literal.Float(); n >= 1 {
			batch = n
		}
	}
	child := w.graph(m.Processor, min(batch, items))
	child.Transitions++ // its start
	if m.Execution == "EXPRESS" {
		child = child.express()
	}
	return child.times(math.Ceil(items / batch))
}

// retriesOf is how many times an error is retried.
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

// Refused reports whether an error is Lambda's refusal of an invocation, which Lambda does not charge for.
func Refused(name string) bool {
	return name == "Lambda.TooManyRequestsException" || name == "Lambda.ThrottledException"
}

// Expected is how many of at most n retries are made when every attempt fails with the same chance.
func Expected(rate float64, n int64) float64 {
	if rate >= 1 {
		return float64(n)
	}
	return rate * (1 - math.Pow(rate, float64(n))) / (1 - rate)
}

// most is the largest number of retries of one retrier.
func most(retry []asl.Retrier) float64 {
	counts := append(make([]int64, 0, 1+len(retry)), 0)
	for i := range retry {
		counts = append(counts, retry[i].MaxAttempts)
	}
	return float64(slices.Max(counts))
}

// billed is the time that is paid for an EXPRESS execution of so many seconds: whole tenths of a second, rounded up.
func billed(seconds float64) float64 {
	const nearly = 1e-9 // what is a tenth but for the arithmetic is no tenth more
	return math.Ceil(seconds*10-nearly) / 10
}

// Items are the costs of n executions; seconds is how long an invocation takes, at a memory size in MB, and also how
// long an EXPRESS execution takes for each of its invocations.
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

// Worst is what the retries of n executions add, in USD, when each task uses its longest retrier up.
func (e Execution) Worst(n float64, p Prices) float64 {
	return (e.WorstRetries - e.unpaidWorst) * n / thousand * p.Transitions
}
