package console

import (
	"sync"
	"time"
)

// lately caches the counts of the current tick, which open pages share: a hundred pages cost hardly more than one.
// For a newly opened page they are counted again.
type lately struct {
	mu   sync.Mutex
	tick time.Time
	rows map[string]*countedOnce
}

type countedOnce struct {
	once sync.Once
	row  *MachineRow
	err  error
}

// row returns the row of a state machine by its ARN. The row is shared and must not be modified.
func (l *lately) row(arn string, live bool, count func() (*MachineRow, error)) (*MachineRow, error) {
	l.mu.Lock()
	if now := time.Now().Truncate(tick); !now.Equal(l.tick) || l.rows == nil {
		l.tick, l.rows = now, map[string]*countedOnce{}
	}
	of := l.rows[arn]
	if of == nil || !live {
		of = &countedOnce{}
		l.rows[arn] = of
	}
	l.mu.Unlock()
	of.once.Do(func() { of.row, of.err = count() })
	if of.err != nil { // perhaps only the counting client's error, because it disconnected
		l.forget()
	}
	return of.row, of.err
}

// forget clears the cache after an action.
func (l *lately) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = nil
}
