package pipeline

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/configuration"
	adaptive "stepback/adaptive/shared"
	"stepback/csvimport/circuitlog"
	"stepback/csvimport/handlers"
	"stepback/local/services/lambda/functions"
)

// guards holds the breakers and limiters that the functions in this process use, one of each per callee. On AWS,
// functions share them through a table.
type guards struct {
	store *adaptive.Memory
	now   func() time.Time
	// calls is the maximum number of concurrent calls that the import makes to a callee; see policies.
	calls int
	told  func(callee string, circuit breaker.Circuit)

	mu  sync.Mutex
	all map[string]*handlers.Guard
}

// configurationVariable names the directory in which stepback adapt stores the retry configuration for functions.
const configurationVariable = "RETRY_CONFIGURATION"

func newGuards(now func() time.Time, calls int, told func(string, breaker.Circuit)) *guards {
	return &guards{store: &adaptive.Memory{}, now: now, calls: calls, told: told, all: map[string]*handlers.Guard{}}
}

// of returns the guard for calls from a function to a callee; s describes the function's surroundings. Changes of
// the circuit are printed to the function's log, as on AWS. The guard's deadlines are in real time, because those
// of invocations are.
func (g *guards) of(callee, state string, s functions.Surroundings) *handlers.Guard {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.all[callee]
	if one == nil {
		gate, err := adaptive.NewGate(g.store, callee, g.policies(), g.options(callee, state, s))
		if err != nil {
			panic(fmt.Sprintf("pipeline: the default policies of a callee are not valid: %v", err))
		}
		one = &handlers.Guard{Gate: gate}
		if dir := s.Env[configurationVariable]; dir != "" {
			one.Worth = &configuration.Reader{
				Source: configuration.Files{Directory: dir}, Machine: machineName, Now: g.now,
			}
		}
		g.all[callee] = one
	}
	return one
}

// slack is the factor by which the initial limit of a limiter exceeds the number of the import's concurrent calls.
const slack = 8

// policies returns the default policies, with an initial limit that refuses nothing while the callee is healthy,
// because refused rows wait for half a minute. The limit is higher than the number of concurrent calls, because
// calls are counted when they end. When a disk resumes after a pause of some seconds, calls end within one second
// that have taken several seconds each, and seem to be several times as many as are possible.
func (g *guards) policies() adaptive.Policies {
	p := adaptive.Callee()
	p.Limiter.Initial = min(max(p.Limiter.Initial, slack*float64(g.calls)), p.Limiter.Max)
	return p
}

func (g *guards) options(callee, state string, s functions.Surroundings) adaptive.Config {
	p := &circuitlog.Printer{Callee: callee, Machine: machineName, State: state, Out: s.Log,
		Log: slog.New(slog.DiscardHandler), Now: g.now}
	o := adaptive.Config{Now: g.now, Read: p.Circuit}
	if g.told != nil {
		o.Changed = func(circuit breaker.Circuit) { g.told(callee, circuit) }
	}
	return o
}
