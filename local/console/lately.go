package console

import (
	"sync"
	"time"
)

// lately are the counts of the tick that goes on, which pages that are open share: a hundred of them cost hardly more
// than one. Who opens a page has it counted anew.
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

// row returns the row of a machine by its ARN. It is shared: nobody changes it.
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
	if of.err != nil { // perhaps only of the one who counted and went away
		l.forget()
	}
	return of.row, of.err
}

// forget has everything counted anew, as somebody has done something.
func (l *lately) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = nil
}
