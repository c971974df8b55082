package runner

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// stopwatch adds up the times in which something was going on. The zero value has counted nothing.
type stopwatch struct {
	mu    sync.Mutex
	going int
	since time.Time
	sum   time.Duration
}

func (s *stopwatch) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going++; s.going == 1 {
		s.since = time.Now()
	}
}

func (s *stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going--; s.going == 0 {
		s.sum += time.Since(s.since)
	}
}

// total includes what is going on now.
func (s *stopwatch) total() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going > 0 {
		return s.sum + time.Since(s.since)
	}
	return s.sum
}

// bring answers a runtime client that asks for a package of AWS's runtime with the directory where it is. On AWS it
// would be there already: the time that it takes is not the function's.
func (api *runtimeAPI) bring(w http.ResponseWriter, r *http.Request) {
	const longest = 256
	name, err := io.ReadAll(io.LimitReader(r.Body, longest))
	if err != nil || api.packages == nil {
		refuse(w, http.StatusNotFound, "NotFound", "there are no packages for this function")
		return
	}
	api.waited.start()
	defer api.waited.stop()
	dir, err := api.packages(r.Context(), string(name))
	if err != nil {
		refuse(w, http.StatusNotFound, "NotFound", err.Error())
		return
	}
	_, _ = io.WriteString(w, dir) // a process that has gone is noticed by its exit
}
