package httpclient

import (
	"sync"
	"sync/atomic"
	"time"

	"stepback/resilience"
)

// hosts keeps an executor for each host, for a limited number of hosts.
type hosts struct {
	most  int
	build func(host string) (*resilience.Executor, error)

	mu    sync.RWMutex
	known map[string]*host
}

type host struct {
	executor *resilience.Executor
	used     atomic.Int64 // Unix seconds
}

func (h *hosts) init(most int, build func(string) (*resilience.Executor, error)) {
	h.most, h.build, h.known = most, build, map[string]*host{}
}

func (h *hosts) of(name string) (*resilience.Executor, error) {
	h.mu.RLock()
	found := h.known[name]
	h.mu.RUnlock()
	if found == nil {
		var err error
		if found, err = h.add(name); err != nil {
			return nil, err
		}
	}
	if now := time.Now().Unix(); found.used.Load() != now {
		found.used.Store(now)
	}
	return found.executor, nil
}

func (h *hosts) add(name string) (*host, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.known[name]; found != nil {
		return found, nil
	}
	e, err := h.build(name)
	if err != nil {
		return nil, err
	}
	if len(h.known) >= h.most {
		h.forgetOldest()
	}
	added := &host{executor: e}
	added.used.Store(time.Now().Unix())
	h.known[name] = added
	return added, nil
}

func (h *hosts) forgetOldest() {
	oldest, at := "", int64(0)
	for name, known := range h.known {
		if used := known.used.Load(); oldest == "" || used < at {
			oldest, at = name, used
		}
	}
	delete(h.known, oldest)
}

func (h *hosts) statistics() map[string]resilience.Statistics {
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := make(map[string]resilience.Statistics, len(h.known))
	for name, known := range h.known {
		all[name] = known.executor.Statistics()
	}
	return all
}
