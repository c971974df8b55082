package journal

import (
	"math"

	"stepback/engine/history"
	"stepback/engine/interpreter"
)

// AppendBinary appends the stored form of a Map Run. It is read back by DecodeMapRun.
func (m *MapRun) AppendBinary(dst []byte) []byte {
	w := writer{dst}
	for _, s := range [...]string{m.ARN, m.Execution, m.Machine, m.Children, string(m.Status), m.Source} {
		w.text(s)
	}
	w.time(m.Started)
	w.time(m.Stopped)
	w.number(m.MaxConcurrency)
	w.number(m.ToleratedFailureCount)
	w.number(int64(math.Float64bits(m.ToleratedFailurePercentage)))
	w.flags(m.CountGiven, m.PercentageGiven)
	for _, t := range [...]*Tally{&m.Items, &m.Executions} {
		for _, n := range t.members() {
			w.number(*n)
		}
	}
	failing := m.Failure != history.Failure{}
	if m.RedriveCount != 0 || failing {
		w.number(m.RedriveCount)
		w.time(m.Redriven)
		for _, t := range [...]*Tally{&m.Items, &m.Executions} {
			w.number(t.PendingRedrive)
			w.number(t.NotRedrivable)
		}
	}
	if failing {
		w.text(m.Failure.Error)
		w.text(m.Failure.Cause)
	}
	return w.dst
}

// DecodeMapRun reads a Map Run that AppendBinary wrote. What it lacks of redrives and failures was kept by an earlier
// version.
func DecodeMapRun(src []byte) (*MapRun, error) {
	r := reader{src: src}
	m := &MapRun{ARN: r.text(), Execution: r.text(), Machine: r.text(), Children: r.text(),
		Status: interpreter.Status(r.text())}
	m.Source = r.text()
	m.Started, m.Stopped = r.time(), r.time()
	m.MaxConcurrency, m.ToleratedFailureCount = r.number(), r.number()
	m.ToleratedFailurePercentage = math.Float64frombits(uint64(r.number()))
	r.flags(&m.CountGiven, &m.PercentageGiven)
	for _, t := range [...]*Tally{&m.Items, &m.Executions} {
		for _, n := range t.members() {
			*n = r.number()
		}
	}
	if r.more() {
		m.RedriveCount, m.Redriven = r.number(), r.time()
	}
	if r.more() {
		for _, t := range [...]*Tally{&m.Items, &m.Executions} {
			t.PendingRedrive, t.NotRedrivable = r.number(), r.number()
		}
	}
	if r.more() {
		m.Failure = history.NewFailure(r.text(), r.text())
	}
	return m, r.err("Map Run")
}
