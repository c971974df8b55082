package controller

import (
	"context"
	"strconv"
	"time"

	"stepback/adaptive/controller/decide"
)

// repeatedAfter is the time after which a proposal that was withdrawn is reported again.
const repeatedAfter = time.Hour

// propose records the change that a dry run would make, and sends an event about it. It records the same proposal once
// for as long as the controller makes it, and at most once an hour if the measurements alternate. A decision to keep
// the setting withdraws the proposal.
func (t *tick) propose(ctx context.Context, d decide.Decision) {
	last := t.row.proposal(d.State)
	if !d.Changes() {
		if d.Verdict == decide.Keep && last.What == Proposed {
			t.row.add(Entry{At: t.now, State: d.State, What: Withdrawn, After: last.After,
				Text: "the measurements no longer suggest a change", Why: d.Reasons})
		}
		return
	}
	e := Entry{At: t.now, State: d.State, What: Proposed, Text: d.String(), Why: d.Reasons, Before: d.Before.String(),
		After: d.Setting.String()}
	if d.MapRun != nil {
		e.Before, e.After = d.MapRun.ARN, "MaxConcurrency "+strconv.Itoa(d.MapRun.Concurrency)
	}
	if last.After == e.After && (last.What == Proposed || t.now.Sub(last.At) < repeatedAfter) {
		return
	}
	if err := t.tell(ctx, decide.EventProposal, d, e); err != nil {
		t.warn("no event was sent about a proposal: %v", err)
	}
	t.row.add(e)
	t.res.Proposed = append(t.res.Proposed, d)
}

// proposal returns the newest entry about a proposal for a state; the zero Entry if there is none.
func (r *Row) proposal(state string) Entry {
	for i := len(r.History) - 1; i >= 0; i-- {
		if e := r.History[i]; e.State == state && (e.What == Proposed || e.What == Withdrawn) {
			return e
		}
	}
	return Entry{}
}
