package review

import (
	"time"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/retrypatterns"
)

// Report is the opinion on a definition.
type Report struct {
	// States are the states with a Retry block, in the order of the definition.
	States []State
	// Advice is of severity ADVICE, in the order of the definition.
	Advice []asl.Diagnostic
}

// State is what the retries of one state come to when its errors never go away and alternate so that every retrier is
// used up.
type State struct {
	// Location is the place in the definition, for example /States/Pay.
	Location string
	// Retries are those of the state alone.
	Retries int64
	// Attempts are all attempts, with those that the retries of the Map and Parallel states around it add.
	Attempts int64
	// Wait is the time between the attempts of the state alone.
	Wait retrypatterns.Wait
	// Attempt is the state's TimeoutSeconds; 0 when there is none, or it is decided when the state runs.
	Attempt time.Duration
	// Longest is the time in the state, with every attempt taking all of Attempt; 0 when Attempt is 0.
	Longest time.Duration
}

// Options say what kind of state machine is reviewed.
type Options struct {
	// Express state machines last five minutes at most.
	Express bool
	// Unknown reports whether a Task's Resource stands in for one that is not known yet, of which nothing is said; nil:
	// none does.
	Unknown func(resource string) bool
}

// expressLimit is how long an execution of an express state machine may last.
const expressLimit = 5 * time.Minute

// Definition reviews a definition: its text, and the machine that asl made of it.
func Definition(text string, m *asl.Machine, o Options) Report {
	r := &reviewer{
		text: text, index: source.NewIndex(text), lines: source.NewLines(text),
		limit:   time.Duration(m.TimeoutSeconds) * time.Second,
		unknown: o.Unknown,
	}
	if o.Express && (r.limit == 0 || r.limit > expressLimit) {
		r.limit = expressLimit
	}
	r.graph(&m.Graph, nil, 1)
	return r.report
}

// reviewer walks through one definition.
type reviewer struct {
	text   string
	index  *source.Index
	lines  *source.Lines
	limit  time.Duration // of an execution; 0 means none
	report Report

	unknown func(resource string) bool
}

// graph reviews states that are tried so many times by what is around them.
func (r *reviewer) graph(g *asl.Graph, at source.Path, around int64) {
	for _, s := range g.States {
		r.state(s, at.Join(source.Member("States"), source.Member(s.Name)), around)
	}
}

func (r *reviewer) state(s *asl.State, at source.Path, around int64) {
	attempts := times(around, 1+retries(s))
	if len(s.Retry) > 0 {
		r.report.States = append(r.report.States, summary(s, at, attempts))
	}
	r.task(s, at)
	for i := range s.Retry {
		r.retrier(s, i, at.Join(source.Member("Retry"), source.Element(i)))
	}
	if around > 1 && retries(s) > 0 {
		r.advise(RetriesMultiplied, at.Join(source.Member("Retry")), "retry on one level only",
			"%d attempts here times %d of the states around it are %d attempts at the worst", 1+retries(s), around,
			attempts)
	}
	for i, branch := range s.Branches {
		r.graph(branch, at.Join(source.Member("Branches"), source.Element(i)), attempts)
	}
	if s.Map != nil && s.Map.Processor != nil {
		r.graph(s.Map.Processor, r.processor(at), attempts)
	}
}

// processor is the place of a Map's processor, in its present or in its old form.
func (r *reviewer) processor(at source.Path) source.Path {
	present := at.Join(source.Member("ItemProcessor"))
	if r.index.Value(present) == r.index.Value(at) {
		return at.Join(source.Member("Iterator"))
	}
	return present
}

// retries are those of all retriers of a state.
func retries(s *asl.State) int64 {
	var n int64
	for i := range s.Retry {
		n += s.Retry[i].MaxAttempts
	}
	return n
}
