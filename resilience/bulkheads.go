package resilience

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Bulkheads is a registry with one bulkhead per service, created when it is first requested.
type Bulkheads struct {
	rest   BulkheadConfig
	chosen map[string]BulkheadConfig

	mu        sync.Mutex
	bulkheads map[string]*Bulkhead
}

// NewBulkheads returns a registry. chosen holds the limits for individual services; all other services get rest.
func NewBulkheads(rest BulkheadConfig, chosen map[string]BulkheadConfig) (*Bulkheads, error) {
	_, err := NewBulkhead(rest)
	problems := []error{err}
	for _, service := range slices.Sorted(maps.Keys(chosen)) {
		if _, err := NewBulkhead(chosen[service]); err != nil {
			problems = append(problems, fmt.Errorf("service %s: %w", service, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Bulkheads{
		rest: rest, chosen: maps.Clone(chosen), bulkheads: map[string]*Bulkhead{},
	}, nil
}

// For returns the service's bulkhead, always the same one. Do not let users choose service names, because the
// registry never removes one.
func (r *Bulkheads) For(service string) *Bulkhead {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.bulkheads[service]
	if !ok {
		config, chosen := r.chosen[service]
		if !chosen {
			config = r.rest
		}
		b = newBulkhead(config)
		r.bulkheads[service] = b
	}
	return b
}

// Statistics returns the statistics of each service's bulkhead.
func (r *Bulkheads) Statistics() map[string]BulkheadStatistics {
	r.mu.Lock()
	all := maps.Clone(r.bulkheads)
	r.mu.Unlock()
	stats := make(map[string]BulkheadStatistics, len(all))
	for service, b := range all {
		stats[service] = b.Statistics()
	}
	return stats
}
