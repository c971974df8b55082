package configuration

import (
	"context"
	"sync"
)

// Memory keeps configurations in memory. The zero Memory is empty and ready.
type Memory struct {
	mu  sync.Mutex
	all map[string]*Configuration
}

// Load implements [Source].
func (m *Memory) Load(_ context.Context, machine string) (*Configuration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[machine], nil
}

// Save replaces the configuration of its state machine. The caller must not change c afterwards.
func (m *Memory) Save(_ context.Context, c *Configuration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]*Configuration{}
	}
	m.all[c.Machine] = c
	return nil
}
