// Package machine is a model of state machines for simulation: plain data that is drawn at random, printed as an Amazon
// States Language definition, and read by an oracle. It shares no code with the parser, the plan or the interpreter, so
// that a misunderstanding in them is not repeated here; it never runs anything.
package machine

// The types of states, as the language spells them.
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

// Scope is a list of states of which the first is where it starts: the machine itself, a branch or a Map's processor.
type Scope struct {
	States []*State
	// Owner is the Parallel or Map state around the scope; nil for the machine's own.
	Owner *State
}

// Start is the state that the scope begins with.
func (s *Scope) Start() *State { return s.States[0] }

// Find returns the state of a name in this scope, or nil.
func (s *Scope) Find(name string) *State {
	for _, st := range s.States {
		if st.Name == name {
			return st
		}
	}
	return nil
}

// State is one state. Names are unique in the whole machine. What a type has no use for is zero.
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

// Retrier is one element of Retry, with the defaults of fields that the definition leaves out.
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

// Kind is what a Task state calls.
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
	// TimeoutSeconds and HeartbeatSeconds are 0 when there is none; a heartbeat is shorter than a timeout.
	TimeoutSeconds, HeartbeatSeconds int
}

// Rule is one rule of a Choice state on the number $.n.
type Rule struct {
	Operator string // NumericEquals, NumericLessThan, NumericGreaterThanEquals
	Operand  int
	Not      bool
	// And is a second test that has to hold too.
	And  *Rule
	Next string
}

// Choices are the rules of a Choice state. Default may be empty: then States.NoChoiceMatched is raised.
type Choices struct {
	Rules   []Rule
	Default string
}

// Delay is how long a Wait state waits.
type Delay struct {
	Form DelayForm
	// Seconds are the seconds to wait, or after the simulation's beginning for a timestamp.
	Seconds int
}

// DelayForm is how a Wait state's delay is written.
type DelayForm int

// The forms of a delay.
const (
	Seconds     DelayForm = iota
	SecondsPath           // $.n
	Timestamp
)

// Raise is what a Fail state raises; an empty name or cause is left out.
type Raise struct{ Error, Cause string }

// Iteration is how a Map state iterates over $.items.
type Iteration struct {
	// MaxConcurrency is 0 when there is no limit of its own.
	MaxConcurrency int
	Distributed    bool
	// ToleratedFailureCount and MaxItemsPerBatch are of a distributed Map; 0 means none.
	ToleratedFailureCount, MaxItemsPerBatch int
}

// Data is what a state does with its input and result. Every payload of a machine is an object with a number n, from 0,
// and an array items of such numbers, whatever the forms.
type Data struct {
	Form DataForm
	// ResultPath is where the result goes: empty replaces the input, "null" discards the result.
	ResultPath string
	Assign     bool
	// N and Items are the literal result of a Pass state, or what a Parallel or Map state's ResultSelector makes of its
	// result.
	N     int
	Items []int
}

// DataForm is the way a state builds its result.
type DataForm int

// The forms of data.
const (
	Plain     DataForm = iota
	Literal            // Result of a Pass state; a ResultSelector of literals elsewhere
	Increment          // Parameters that count n up
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

// Inner are the scopes inside a state.
func (s *State) Inner() []*Scope {
	if s.Processor != nil {
		return []*Scope{s.Processor}
	}
	return s.Branches
}
