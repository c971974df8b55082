package journal

import (
	"math"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/wire"
)

// AppendBinary appends the stored form of a Map Run. DecodeMapRun reads it back.
func (m *MapRun) AppendBinary(dst []byte) []byte {
	w := wire.Writer{Bytes: dst}
	for _, s := range [...]string{m.ARN, m.Execution, m.Machine, m.Children, string(m.Status), m.Source} {
		w.Text(s)
	}
	w.Time(m.Started)
	w.Time(m.Stopped)
	w.Varint(m.MaxConcurrency)
	w.Varint(m.ToleratedFailureCount)
	w.Varint(int64(math.Float64bits(m.ToleratedFailurePercentage)))
	w.Flags(m.CountGiven, m.PercentageGiven)
	for _, t := range [...]*Tally{&m.Items, &m.Executions} {
		for _, n := range t.members() {
			w.Varint(*n)
		}
	}
	failing := !m.Failure.IsZero()
	if m.RedriveCount != 0 || failing || len(m.Slowest) > 0 {
		w.Varint(m.RedriveCount)
		w.Time(m.Redriven)
		for _, t := range [...]*Tally{&m.Items, &m.Executions} {
			w.Varint(t.PendingRedrive)
			w.Varint(t.NotRedrivable)
		}
	}
	if failing || len(m.Slowest) > 0 {
		w.Text(m.Failure.Name)
		w.Text(m.Failure.Cause)
	}
	for _, s := range m.Slowest {
		w.Text(s.ARN)
		w.Text(string(s.Status))
		w.Varint(int64(s.Took))
		w.Varint(s.FirstItem)
	}
	return w.Bytes
}

// DecodeMapRun reads a Map Run written by AppendBinary. Map Runs stored by earlier versions lack redrives, failures
// and slow children.
func DecodeMapRun(src []byte) (*MapRun, error) {
	r := wire.NewReader(src)
	m := &MapRun{ARN: r.Text(), Execution: r.Text(), Machine: r.Text(), Children: r.Text(),
		Status: history.Status(r.Text())}
	m.Source = r.Text()
	m.Started, m.Stopped = r.Time(), r.Time()
	m.MaxConcurrency, m.ToleratedFailureCount = r.Varint(), r.Varint()
	m.ToleratedFailurePercentage = math.Float64frombits(uint64(r.Varint()))
	r.Flags(&m.CountGiven, &m.PercentageGiven)
	for _, t := range [...]*Tally{&m.Items, &m.Executions} {
		for _, n := range t.members() {
			*n = r.Varint()
		}
	}
	if r.More() {
		m.RedriveCount, m.Redriven = r.Varint(), r.Time()
	}
	if r.More() {
		for _, t := range [...]*Tally{&m.Items, &m.Executions} {
			t.PendingRedrive, t.NotRedrivable = r.Varint(), r.Varint()
		}
	}
	if r.More() {
		if name, cause := r.Text(), r.Text(); name != "" || cause != "" {
			m.Failure = history.NewFailure(name, cause)
		}
	}
	for r.More() {
		m.Slowest = append(m.Slowest, Slow{r.Text(), history.Status(r.Text()), time.Duration(r.Varint()), r.Varint()})
	}
	return m, damage(&r, "Map Run")
}
