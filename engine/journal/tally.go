package journal

import "stepback/engine/history"

// Tally counts items or executions by status.
type Tally struct {
	Pending   int64 `json:"pending"`
	Running   int64 `json:"running"`
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	TimedOut  int64 `json:"timedOut"`
	Aborted   int64 `json:"aborted"`
	// PendingRedrive counts executions that ended without success before their Map Run was redriven and that the
	// redrive has not restarted yet. NotRedrivable counts other unsuccessful executions that cannot be redriven.
	PendingRedrive int64 `json:"pendingRedrive,omitempty"`
	NotRedrivable  int64 `json:"failuresNotRedrivable,omitempty"`
}

// Total returns the number of everything counted.
func (t Tally) Total() int64 {
	return t.Pending + t.PendingRedrive + t.Running + t.Succeeded + t.Failed + t.TimedOut + t.Aborted
}

// End adds n to the count for status s.
func (t *Tally) End(s history.Status, n int64) {
	switch s {
	case history.Succeeded:
		t.Succeeded += n
	case history.Failed:
		t.Failed += n
	case history.TimedOut:
		t.TimedOut += n
	default:
		t.Aborted += n
	}
}

func (t *Tally) members() [6]*int64 {
	return [...]*int64{&t.Pending, &t.Running, &t.Succeeded, &t.Failed, &t.TimedOut, &t.Aborted}
}
