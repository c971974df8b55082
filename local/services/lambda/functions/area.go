package functions

import (
	"context"
	"path/filepath"
	"sync"

	"stepback/aws"
	"stepback/local/services/inventory"
	"stepback/local/services/lambda/runner"
)

// area holds the functions of one account and region.
type area struct {
	scope  aws.Scope
	dir    string
	lambda *runner.Service
	sink   runner.LogSink // nil if logs are discarded
	files  *inventory.Files

	mu        sync.RWMutex
	functions map[string]*record
	changing  map[string]chan struct{} // closed once the change of that function has ended
	running   map[codeKey]int          // versions that are deployed, or have running invocations
}

// codeKey identifies the code of a function.
type codeKey struct{ function, sha256 string }

func newArea(scope aws.Scope, dir string, opts Options, capacity *runner.Capacity) *area {
	a := &area{
		scope: scope, dir: dir, files: opts.Files, functions: map[string]*record{},
		changing: map[string]chan struct{}{},
		running:  map[codeKey]int{},
	}
	if opts.LogSink != nil {
		a.sink = opts.LogSink(scope)
	}
	var ran func(runner.Ran)
	if opts.Ran != nil {
		ran = func(r runner.Ran) { opts.Ran(scope, r) }
	}
	var sample func(name, arn string) bool
	if opts.Sample != nil {
		sample = func(name, arn string) bool { return opts.Sample(scope, name, arn) }
	}
	a.lambda = runner.New(runner.Options{Region: scope.Region, Account: scope.Account, IdleTimeout: opts.IdleTimeout,
		Logs: a.sink, Capacity: capacity, Ran: ran, Sample: sample})
	return a
}

func (a *area) functionDir(name string) string { return filepath.Join(a.dir, name) }

func (a *area) arn(name string) string { return arnOf(a.scope, name) }

// record returns the record of a function, or nil if there is none.
func (a *area) record(name string) *record {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.functions[name]
}

func (a *area) put(name string, r *record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r == nil {
		delete(a.functions, name)
		return
	}
	a.functions[name] = r
}

// claim waits until no other change of the function is in progress, and blocks others until done is called.
func (a *area) claim(ctx context.Context, name string) (done func(), err error) {
	for {
		a.mu.Lock()
		other := a.changing[name]
		if other == nil {
			own := make(chan struct{})
			a.changing[name] = own
			a.mu.Unlock()
			return func() {
				a.mu.Lock()
				delete(a.changing, name)
				a.mu.Unlock()
				close(own)
			}, nil
		}
		a.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// use marks a deployed version as in use; release ends that.
func (a *area) use(k codeKey) (release func()) {
	a.mu.Lock()
	a.running[k]++
	a.mu.Unlock()
	return func() {
		a.mu.Lock()
		if a.running[k]--; a.running[k] == 0 {
			delete(a.running, k)
		}
		a.mu.Unlock()
	}
}

func (a *area) inUse(k codeKey) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.running[k] > 0
}
