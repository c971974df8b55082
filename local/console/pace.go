package console

import (
	"runtime"
	"sync"
	"time"
)

// pace limits how often open pages reload, so that together they take almost nothing from the engine.
type pace struct {
	mu    sync.Mutex
	pages int           // the number of open pages
	cost  time.Duration // the average duration of an update
}

const (
	// share is the share of the processors that updates may take.
	share = 0.01
	// leastRest and mostRest limit the time between two updates of a page.
	leastRest, mostRest = time.Second, 10 * time.Second
	// weight sets how fast the average follows: the latest update counts for 1/weight.
	weight = 8
)

// open counts a page as open until closed is called.
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

// took records how long an update took. On a busy machine that is more than its processor time, so pages wait
// longer between updates.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cost += (d - p.cost) / weight
}

// rest returns how long a page waits before it can be notified again.
func (p *pace) rest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := float64(p.cost) * float64(p.pages)
	return min(mostRest, max(leastRest, time.Duration(all/(share*float64(runtime.GOMAXPROCS(0))))))
}
