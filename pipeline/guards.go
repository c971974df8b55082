package pipeline

import (
	"fmt"
	"sync"
	"time"

	"stepback/adaptive/breaker"
	adaptive "stepback/adaptive/shared"
	"stepback/csvimport/handlers"
)

// guards are the breakers and limiters of this process's functions, one of each per callee, as functions on AWS share
// them through a table.
type guards struct {
	store *adaptive.Memory
	now   func() time.Time
	// calls is how many calls of a callee the import may have under way at a time. Where a limiter began below it, it
	// would refuse calls of a callee that is well, whose rows then wait for half a minute.
	calls int
	told  func(callee string, circuit breaker.Circuit)

	mu  sync.Mutex
	all map[string]*handlers.Guard
}

func newGuards(now func() time.Time, calls int, told func(string, breaker.Circuit)) *guards {
	return &guards{store: &adaptive.Memory{}, now: now, calls: calls, told: told, all: map[string]*handlers.Guard{}}
}

// of is the guard in front of a callee. Its deadlines are the wall's, as those of invocations are.
func (g *guards) of(callee string) *handlers.Guard {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.all[callee]
	if one == nil {
		gate, err := adaptive.NewGate(g.store, callee, g.policies(), g.options(callee))
		if err != nil {
			panic(fmt.Sprintf("pipeline: the usual policies of a callee are refused: %v", err))
		}
		one = &handlers.Guard{Gate: gate}
		g.all[callee] = one
	}
	return one
}

func (g *guards) policies() adaptive.Policies {
	p := adaptive.Callee()
	p.Limiter.Initial = min(max(p.Limiter.Initial, float64(g.calls)), p.Limiter.Max)
	return p
}

func (g *guards) options(callee string) adaptive.Options {
	o := adaptive.Options{Now: g.now}
	if g.told != nil {
		o.Changed = func(circuit breaker.Circuit) { g.told(callee, circuit) }
	}
	return o
}
