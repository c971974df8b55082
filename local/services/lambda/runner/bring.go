package runner

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// stopwatch measures the total time during which something was in progress. The zero value is ready to use.
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

// total returns the time so far, including the work that is in progress now.
func (s *stopwatch) total() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.going > 0 {
		return s.sum + time.Since(s.since)
	}
	return s.sum
}

// bring handles a runtime client's request for a package of AWS's runtime, and responds with the package's
// directory. On AWS the package is already installed, so the time for fetching it does not count towards the
// function's time.
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
	_, _ = io.WriteString(w, dir) // if the process has exited, that is detected elsewhere
}
