package poison

// Remembered is the number of records that a [Memory] holds; the oldest is forgotten for a new one.
const Remembered = 4096

// Memory holds the records whose calls failed in one process, by a hash of the record, with the number of their
// failures. A process that serves only some of the attempts sees some of a record's failures, and therefore counts too
// few of them, never too many. The zero Memory is empty. It is not safe for concurrent use.
type Memory struct {
	failures map[uint64]history
	order    [Remembered]uint64 // a ring
	next     int
}

// history is the number of a record's failures, and the kind of the last one.
type history struct {
	failures int
	last     Kind
}

// Failures returns how many calls of a record are known to have failed.
func (m *Memory) Failures(record uint64) int { return m.failures[record].failures }

// Last returns the kind of a record's last known failure.
func (m *Memory) Last(record uint64) Kind { return m.failures[record].last }

// Ended records how a call of a record ended, and the kind of its failure. A record that succeeds is forgotten.
func (m *Memory) Ended(record uint64, failed bool, kind Kind) {
	n, known := m.failures[record]
	switch {
	case failed && !known:
		if m.failures == nil {
			m.failures = map[uint64]history{}
		}
		delete(m.failures, m.order[m.next])
		m.order[m.next] = record
		m.next = (m.next + 1) % Remembered
		m.failures[record] = history{1, kind}
	case failed:
		m.failures[record] = history{n.failures + 1, kind}
	case known:
		delete(m.failures, record)
	}
}
