package pipeline

import (
	"encoding/json"
	"sync"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/statemachine"
)

// rowProgress counts the rows that running child executions have decided, for the progress of a run. A Map Run counts
// the rows of a child only when the child ends, and a child has up to 500.
type rowProgress struct {
	mu      sync.Mutex
	running map[string]int64 // decided rows by child execution
	most    int64            // the most that Done has been
}

// follow counts the rows among the events of a step.
func (r *rowProgress) follow(x *journal.Execution, events []history.Event) {
	if x.MapRunARN == "" {
		return
	}
	var n int64
	for i := range events {
		e := &events[i]
		switch {
		case e.Type.Terminal():
			r.mu.Lock()
			delete(r.running, x.ARN)
			r.mu.Unlock()
			return
		case e.Type == history.MapIterationSucceeded:
			n++
		case e.Type.Exited() && e.Name == statemachine.ApplyBatch:
			n += x.Items - leftRows(e.Data, x.Items)
		}
	}
	if n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		r.running = map[string]int64{}
	}
	r.running[x.ARN] += n
}

// leftRows returns the number of rows, of all in a batch, that the output of ApplyBatch leaves to be processed one by
// one. It is all of them if the batch failed.
func leftRows(output string, all int64) int64 {
	var answer struct {
		Applied  *json.RawMessage  `json:"applied"`
		OneByOne []json.RawMessage `json:"oneByOne"`
	}
	if json.Unmarshal([]byte(output), &answer) != nil || answer.Applied == nil {
		return all
	}
	return int64(len(answer.OneByOne))
}

// done returns the number of decided rows: those of children that have ended, and those in running ones. It never
// decreases, although a child may have ended shortly before its Map Run counts it.
func (r *rowProgress) done(ended int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.running {
		ended += n
	}
	r.most = max(r.most, ended)
	return r.most
}
