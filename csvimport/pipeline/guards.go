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

// guards are the breakers and limiters of this process's functions, one of each per callee, as functions on AWS share
// them through a table.
type guards struct {
	store *adaptive.Memory
	now   func() time.Time
	// calls is how many calls of a callee the import may have under way at a time; see policies.
	calls int
	told  func(callee string, circuit breaker.Circuit)

	mu  sync.Mutex
	all map[string]*handlers.Guard
}

// configurationVariable is the directory in which stepback adapt leaves what it tells functions about retries.
const configurationVariable = "RETRY_CONFIGURATION"

func newGuards(now func() time.Time, calls int, told func(string, breaker.Circuit)) *guards {
	return &guards{store: &adaptive.Memory{}, now: now, calls: calls, told: told, all: map[string]*handlers.Guard{}}
}

// of is the guard in front of a callee, for a function with these surroundings. The circuit is printed to the
// function's log, as on AWS. Its deadlines are the wall's, as those of invocations are.
func (g *guards) of(callee, state string, s functions.Surroundings) *handlers.Guard {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.all[callee]
	if one == nil {
		gate, err := adaptive.NewGate(g.store, callee, g.policies(), g.options(callee, state, s))
		if err != nil {
			panic(fmt.Sprintf("pipeline: the usual policies of a callee are refused: %v", err))
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

// slack is how many times as many calls as the import has at a time a limiter begins with.
const slack = 8

// policies are the usual ones, with a limit that refuses nothing while the callee is well: rows that are refused wait
// for half a minute. Calls are counted when they end. When a disk goes on that had stood still for some seconds, the
// calls that end within one second have taken several each, and seem to be several times as many as there can be.
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
