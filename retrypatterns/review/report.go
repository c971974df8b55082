package review

import (
	"cmp"
	"slices"
	"time"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/retry"
)

// Report is the result of reviewing a definition.
type Report struct {
	// States are the states with a Retry block, in the order of the definition.
	States []State
	// Findings are in the order of the definition.
	Findings []Finding
	// Ignored is the number of findings that comments have silenced.
	Ignored int
}

// Finding is a diagnostic with the code and severity of its rule. It has a fix if the problem can be fixed
// mechanically.
type Finding struct {
	asl.Diagnostic
	// Fix is empty if a person has to decide how to fix the problem. The changes are of the definition as JSON.
	Fix []source.Change
}

// Advice returns the findings as diagnostics. Findings that say the same about several states or retriers are one
// diagnostic with several places (asl.Group).
func (r *Report) Advice() []asl.Diagnostic {
	all := make([]asl.Diagnostic, len(r.Findings))
	for i := range r.Findings {
		all[i] = r.Findings[i].Diagnostic
	}
	return asl.Group(all)
}

// State is the worst case of one state's retries: its errors never go away and alternate so that every retrier is
// used up.
type State struct {
	// Location is the place in the definition, for example /States/Pay.
	Location string
	// Retries is the number of retries of the state alone.
	Retries int64
	// Attempts is the total number of attempts, including those that the retries of enclosing Map and Parallel states
	// add.
	Attempts int64
	// Wait is the total wait between the attempts, for the state alone.
	Wait retry.Wait
	// Attempt is the state's TimeoutSeconds. It is 0 if there is none, or if it is computed when the state runs.
	Attempt time.Duration
	// Longest is the time spent in the state if every attempt takes all of Attempt; 0 if Attempt is 0.
	Longest time.Duration
}

// Options describe the state machine under review and its load.
type Options struct {
	// Express is true for an Express state machine, whose executions last at most five minutes and may run twice.
	Express bool
	// Rate is the number of executions started per second, and Capacity the number of calls per second that the
	// called services can handle; 0 if unknown. METASTABLE_ABOVE needs Capacity.
	Rate, Capacity float64
	// StandsIn reports whether a Task's Resource is a function that stands for a placeholder without a value. It is
	// not reviewed as one in a state that names errors of another service. nil means that there are no placeholders.
	StandsIn func(resource string) bool
}

// expressLimit is the maximum duration of an execution of an Express state machine.
const expressLimit = 5 * time.Minute

// Definition reviews a definition, given as its text and the machine that asl parsed from it.
func Definition(text string, m *asl.Machine, o Options) Report {
	r := &reviewer{
		text: text, index: source.NewIndex(text), lines: source.NewLines(text), options: o, machine: m,
		unknown: m.UnknownErrorNames(),
		limit:   time.Duration(m.TimeoutSeconds) * time.Second, callers: map[string][]*asl.State{},
	}
	if o.Express && (r.limit == 0 || r.limit > expressLimit) {
		r.limit = expressLimit
	}
	r.ignored(m.Comment, nil)
	r.graph(&m.Graph, nil, scope{around: 1, width: 1})
	for i := range r.subjects {
		for _, rule := range Rules() {
			if rule.check != nil {
				s := &r.subjects[i]
				s.rule = &rule
				rule.check(s)
			}
		}
	}
	r.silence()
	slices.SortStableFunc(r.report.Findings, func(a, b Finding) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return r.report
}

// reviewer holds the state of reviewing one definition.
type reviewer struct {
	text     string
	index    *source.Index
	lines    *source.Lines
	machine  *asl.Machine
	unknown  map[string]bool // error names that never come; see asl.UnknownErrorName
	options  Options
	limit    time.Duration // of an execution; 0 means none
	report   Report
	subjects []subject
	callers  map[string][]*asl.State        // states by what they call
	regular  map[*asl.Graph]map[string]bool // names of the states that are reached without a catcher; filled on demand
	ignores  []ignore
}

// scope describes the states that enclose a state.
type scope struct {
	around  int64      // attempts of all enclosing states, multiplied
	width   float64    // items of all enclosing Map states, multiplied; see items
	mapping *asl.State // the innermost Map state; nil if there is none
	express bool       // the state runs in an EXPRESS child execution
	graph   *asl.Graph
}

// subject is a state under review.
type subject struct {
	*asl.State
	r    *reviewer
	rule *Rule
	at   source.Path
	scope
	call // what a Task calls
}

// graph collects the states of a graph and of the graphs inside them.
func (r *reviewer) graph(g *asl.Graph, at source.Path, around scope) {
	around.graph = g
	for _, s := range g.States {
		r.state(s, at.Join(source.Member("States"), source.Member(s.Name)), around)
	}
}

func (r *reviewer) state(s *asl.State, at source.Path, around scope) {
	x := subject{State: s, r: r, at: at, scope: around}
	unknown := r.options.StandsIn != nil && r.options.StandsIn(s.Resource) && namesService(s)
	if s.Type == asl.Task && !unknown {
		x.call = callOf(s)
		if what := x.callee(); what != "" {
			r.callers[what] = append(r.callers[what], s)
		}
	}
	attempts := times(around.around, 1+x.all())
	if len(s.Retry) > 0 {
		r.report.States = append(r.report.States, x.summary(attempts))
	}
	r.subjects = append(r.subjects, x)
	r.comments(s, at)
	inside := scope{around: attempts, width: around.width, mapping: around.mapping, express: around.express}
	for i, branch := range s.Branches {
		r.graph(branch, at.Join(source.Member("Branches"), source.Element(i)), inside)
	}
	if s.Map != nil && s.Map.Processor != nil {
		inside.mapping, inside.express = s, around.express || s.Map.Execution == "EXPRESS"
		n, _ := items(s)
		inside.width *= n
		r.graph(s.Map.Processor, r.processor(at), inside)
	}
}

// processor returns the path of a Map's processor, which is ItemProcessor or, in the old form, Iterator.
func (r *reviewer) processor(at source.Path) source.Path {
	present := at.Join(source.Member("ItemProcessor"))
	if r.index.Value(present) == r.index.Value(at) {
		return at.Join(source.Member("Iterator"))
	}
	return present
}

// all returns the total number of retries of the state, by all retriers that an error can reach.
func (s *subject) all() int64 {
	var n int64
	s.active(func(_ int, x *asl.Retrier) { n += x.MaxAttempts })
	return n
}

// most returns the maximum number of retries for a single error that does not go away.
func (s *subject) most() int64 {
	var most int64
	s.active(func(_ int, x *asl.Retrier) { most = max(most, x.MaxAttempts) })
	return most
}
