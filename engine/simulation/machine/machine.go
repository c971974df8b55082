// Package machine models state machines for simulation: plain data that is drawn at random, printed as an Amazon
// States Language definition, and read by an oracle. It shares no code with the parser, the plan or the interpreter,
// so that a misunderstanding in them is not repeated here. It never runs anything.
package machine

// The types of states, spelled as in the language.
const (
	Pass     = "Pass"
	Task     = "Task"
	Choice   = "Choice"
	Wait     = "Wait"
	Parallel = "Parallel"
	Map      = "Map"
	Succeed  = "Succeed"
	Fail     = "Fail"
)

// Machine is a whole state machine.
type Machine struct {
	Root *Scope
	// TimeoutSeconds limits an execution; 0 means no limit.
	TimeoutSeconds int
}

// Scope is a list of states that starts with its first one: the machine itself, a branch or a Map's processor.
type Scope struct {
	States []*State
	// Owner is the Parallel or Map state around the scope; nil for the machine's own.
	Owner *State
}

// Start returns the state that the scope starts with.
func (s *Scope) Start() *State { return s.States[0] }

// Find returns the state with this name in this scope, or nil.
func (s *Scope) Find(name string) *State {
	for _, st := range s.States {
		if st.Name == name {
			return st
		}
	}
	return nil
}

// State is one state. Names are unique in the whole machine. Fields that a type does not use are zero.
type State struct {
	Name, Type string
	// Next is the state that follows; empty for the last of a scope, for Choice, Succeed and Fail.
	Next  string
	Data  Data
	Retry []Retrier
	Catch []Catcher

	Task   Call
	Choice Choices
	Wait   Delay
	Fail   Raise

	Branches  []*Scope // of a Parallel
	Processor *Scope   // of a Map
	Map       Iteration
}

// Retrier is one element of Retry, with defaults filled in for fields that the definition leaves out.
type Retrier struct {
	ErrorEquals []string
	// IntervalSeconds is the delay before the first retry, MaxAttempts the number of retries.
	IntervalSeconds, MaxAttempts int
	BackoffRate                  float64
	// MaxDelaySeconds caps the delay; 0 means no cap.
	MaxDelaySeconds int
	FullJitter      bool
}

// Catcher is one element of Catch. Its ResultPath keeps the input: the error goes to $.error or nowhere.
type Catcher struct {
	ErrorEquals []string
	Next        string
	Discard     bool
}

// Kind is the kind of call that a Task state makes.
type Kind int

// The kinds of tasks.
const (
	Integration Kind = iota // request and response
	Function                // the ARN of a Lambda function
	Token                   // an integration that waits for a task token
	Job                     // an integration that runs a job (.sync)
	Activity
)

// Call is a Task state's call.
type Call struct {
	Kind Kind
	// TimeoutSeconds and HeartbeatSeconds are 0 if there is none; a heartbeat is shorter than a timeout.
	TimeoutSeconds, HeartbeatSeconds int
}

// Rule is one rule of a Choice state on the number $.n.
type Rule struct {
	Operator string // NumericEquals, NumericLessThan, NumericGreaterThanEquals
	Operand  int
	Not      bool
	// And is a second test that must hold too.
	And  *Rule
	Next string
}

// Choices are the rules of a Choice state. Default may be empty: then States.NoChoiceMatched is raised.
type Choices struct {
	Rules   []Rule
	Default string
}

// Delay describes the delay of a Wait state.
type Delay struct {
	Form DelayForm
	// Seconds is the number of seconds to wait; for a timestamp, they count from the start of the simulation.
	Seconds int
}

// DelayForm is the form in which a Wait state's delay is written.
type DelayForm int

// The forms of a delay.
const (
	Seconds     DelayForm = iota
	SecondsPath           // $.n
	Timestamp
)

// Raise is the error that a Fail state raises; an empty name or cause is left out.
type Raise struct{ Error, Cause string }

// Iteration describes how a Map state iterates over $.items.
type Iteration struct {
	// MaxConcurrency is 0 if the Map sets no limit.
	MaxConcurrency int
	Distributed    bool
	// ToleratedFailureCount and MaxItemsPerBatch apply to a distributed Map; 0 means none.
	ToleratedFailureCount, MaxItemsPerBatch int
}

// Data describes what a state does with its input and result. Whatever the forms, every payload of a machine is an
// object with a number n, at least 0, and an array items of such numbers.
type Data struct {
	Form DataForm
	// ResultPath is the path of the result: empty replaces the input, "null" discards the result.
	ResultPath string
	Assign     bool
	// N and Items are the literal result of a Pass state, or the result of a Parallel or Map state's ResultSelector.
	N     int
	Items []int
}

// DataForm is the way a state builds its result.
type DataForm int

// The forms of data.
const (
	Plain     DataForm = iota
	Literal            // Result of a Pass state; a ResultSelector of literals elsewhere
	Increment          // Parameters that increment n
	Selected           // a ResultSelector that picks n and items
)

// Walk calls f for every state of the scope and of the scopes inside it.
func (s *Scope) Walk(f func(*State)) {
	for _, st := range s.States {
		f(st)
		for _, inner := range st.Inner() {
			inner.Walk(f)
		}
	}
}

// Inner returns the scopes inside a state.
func (s *State) Inner() []*Scope {
	if s.Processor != nil {
		return []*Scope{s.Processor}
	}
	return s.Branches
}
