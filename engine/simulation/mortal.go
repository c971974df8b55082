package simulation

import (
	"sync"

	"stepback/engine/journal"
)

const (
	// immortal is more commits than any simulation makes.
	immortal = 1 << 30
	// enough is how many commits a process makes before its execution is stopped, because it loops; and so after as
	// many more.
	enough = 1500
)

// mortal is a journal whose process dies after a number of commits: nothing is kept any more, and nobody is told.
type mortal struct {
	*journal.Memory
	died    chan struct{}
	tooMany func() // called after enough commits

	mu    sync.Mutex
	left  int
	count int
}

func newMortal(kept *journal.Memory, commits int) *mortal {
	return &mortal{Memory: kept, died: make(chan struct{}), left: commits}
}

// commits is how many there were.
func (m *mortal) commits() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(m.count)
}

// Commit implements journal.Journal.
func (m *mortal) Commit(r *journal.Record, done func(error)) {
	m.mu.Lock()
	m.left--
	m.count++
	lives, dies, loops := m.left >= 0, m.left == -1, m.count%enough == 0
	m.mu.Unlock()
	if dies {
		close(m.died)
	}
	if loops {
		m.tooMany()
	}
	if lives {
		m.Memory.Commit(r, done)
	}
}

// PutMapRun implements journal.Journal.
func (m *mortal) PutMapRun(r *journal.MapRun, done func(error)) {
	m.mu.Lock()
	lives := m.left >= 0
	m.mu.Unlock()
	if lives {
		m.Memory.PutMapRun(r, done)
	}
}
