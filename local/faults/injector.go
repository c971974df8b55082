package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"stepback/services/lambda/runner"
)

// Call is one invocation as the engine makes it.
type Call struct {
	State        string // the state that invokes
	Attempt      int    // 0 for the first, 1 for the first retry …
	FunctionName string
	Payload      []byte
	// Drawn is what chance goes by instead of the payload, where that tells one run from the next; nil means the
	// payload.
	Drawn []byte
}

// Invoker invokes functions. Its errors are *aws.Error for errors of the Invoke call, or the context's.
type Invoker interface {
	Invoke(ctx context.Context, call Call) (runner.InvokeOutput, error)
}

// Parker is told of an invocation that hangs. Park returns when ctx has ended, with its error. A virtual clock
// implements it to know that nothing runs meanwhile and that it may jump to the next timer.
type Parker interface {
	Park(ctx context.Context) error
}

// Service invokes the functions of a runner.Service without faults.
type Service struct{ Lambda *runner.Service }

// Invoke implements Invoker.
func (s Service) Invoke(ctx context.Context, call Call) (runner.InvokeOutput, error) {
	return s.Lambda.Invoke(ctx, runner.InvokeInput{FunctionName: call.FunctionName, Payload: call.Payload, Valid: true})
}

// Injector is an Invoker that lets faults befall some invocations of another. It is safe for concurrent use.
type Injector struct {
	next   Invoker
	parker Parker
	faults map[string][]fault // by state

	mu     sync.Mutex
	counts map[countKey]int
}

type countKey struct{ state, fault string }

// New makes an Injector before next. Several faults of one state are drawn for independently, in the order of specs;
// the first that hits is the one. parker may be nil: a hanging invocation then just waits for its context.
func New(next Invoker, seed uint64, specs []Spec, parker Parker) *Injector {
	if parker == nil {
		parker = waiting{}
	}
	i := &Injector{next: next, parker: parker, faults: map[string][]fault{}, counts: map[countKey]int{}}
	seen := map[countKey]int{}
	for _, spec := range specs {
		key := countKey{spec.State, spec.Error}
		i.faults[spec.State] = append(i.faults[spec.State], newFault(seed, spec, seen[key]))
		seen[key]++
	}
	return i
}

type waiting struct{}

func (waiting) Park(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Invoke implements Invoker.
func (i *Injector) Invoke(ctx context.Context, call Call) (runner.InvokeOutput, error) {
	faults := i.faults[call.State]
	if len(faults) == 0 {
		return i.next.Invoke(ctx, call)
	}
	drawn := call.Drawn
	if drawn == nil {
		drawn = call.Payload
	}
	payload := sha256.Sum256(drawn)
	for _, f := range faults {
		d := f.cast(call.State, &payload, call.Attempt)
		if d.unit < f.Rate {
			i.count(f.Spec)
			return i.inflict(ctx, call, f.Error, d)
		}
	}
	return i.next.Invoke(ctx, call)
}

func (i *Injector) inflict(ctx context.Context, call Call, fault string, d draw) (runner.InvokeOutput, error) {
	switch {
	case fault == Hang, fault == "States.Timeout":
		return runner.InvokeOutput{}, i.parker.Park(ctx)
	case fault == Crash:
		return i.crash(ctx, call, d)
	case fault == Throttle:
		return runner.InvokeOutput{}, serviceError("TooManyRequestsException")
	case strings.HasPrefix(fault, "Lambda.") && fault != "Lambda.Unknown":
		return runner.InvokeOutput{}, serviceError(strings.TrimPrefix(fault, "Lambda."))
	}
	return functionError(d, fault, messageOf(fault)), nil
}

// crash lets the process die: before the function ran, or after it, when the work is done and the answer is lost.
func (i *Injector) crash(ctx context.Context, call Call, d draw) (runner.InvokeOutput, error) {
	if d.afterward {
		if _, err := i.next.Invoke(ctx, call); ctx.Err() != nil {
			return runner.InvokeOutput{}, err
		}
	}
	return functionError(d, "Runtime.ExitError", "RequestId: "+d.requestID()+
		" Error: Runtime exited with error: signal: killed"), nil
}

// Count says how often a fault befell a state.
type Count struct {
	State, Error string
	Injected     int
}

func (i *Injector) count(s Spec) {
	i.mu.Lock()
	i.counts[countKey{s.State, s.Error}]++
	i.mu.Unlock()
}

// Counts returns what has been injected so far, by state and error as they were specified, in that order.
func (i *Injector) Counts() []Count {
	i.mu.Lock()
	defer i.mu.Unlock()
	counts := make([]Count, 0, len(i.counts))
	for key, n := range i.counts {
		counts = append(counts, Count{key.state, key.fault, n})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.State, b.State), strings.Compare(a.Error, b.Error))
	})
	return counts
}
