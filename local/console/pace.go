package console

import (
	"runtime"
	"sync"
	"time"
)

// pace has pages that follow what runs ask for themselves so seldom that all of them together take next to nothing from
// the engine.
type pace struct {
	mu    sync.Mutex
	pages int           // that are open
	cost  time.Duration // what an update took, on average
}

const (
	// share is how much of the processors updates may take.
	share = 0.01
	// leastRest and mostRest bound the time between two updates of a page.
	leastRest, mostRest = time.Second, 10 * time.Second
	// weight is how much the latest update counts in the average.
	weight = 8
)

// open counts a page until it is closed.
func (p *pace) open() (closed func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pages--
	}
}

// took notes how long an update took. On a busy machine that is longer than its processor time, and pages rest longer.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost += (d - p.cost) / weight
}

// rest is how long a page is left alone after it was told of a change.
func (p *pace) rest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := float64(p.cost) * float64(p.pages)
	return min(mostRest, max(leastRest, time.Duration(all/(share*float64(runtime.GOMAXPROCS(0))))))
}
