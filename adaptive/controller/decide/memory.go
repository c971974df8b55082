package decide

import (
	"slices"
	"time"
)

// Direction is where a change goes.
type Direction int

// The directions of a change. A cut takes load off the callee; a restore goes back towards the base.
const (
	Cut     Direction = -1
	Restore Direction = 1
)

// Memory is what is kept of a state from one decision to the next. The zero Memory is that of a state which was never
// changed. It is plain data, to be stored as JSON.
type Memory struct {
	// Setting is the present one; [Base] when it is zero.
	Setting Setting `json:"setting"`
	// Concurrency is what each Map Run was last set to by the controller, by its ARN.
	Concurrency map[string]int `json:"concurrency,omitempty"`
	// Seen is the newest measurement that was looked at.
	Seen time.Time `json:"seen"`
	// Changes are those of the last hour and the one before them, oldest first.
	Changes []Change `json:"changes,omitempty"`
	// Reversed is when the direction last changed.
	Reversed time.Time `json:"reversed"`
	// Watch is the change whose effect is being judged.
	Watch *Watch `json:"watch,omitempty"`
	// PausedUntil is the end of a pause after a roll-back.
	PausedUntil time.Time `json:"pausedUntil"`
	// PayUntil is when retries that did not pay are looked at again.
	PayUntil time.Time `json:"payUntil"`
}

// Change is one change that was applied.
type Change struct {
	At        time.Time `json:"at"`
	Direction Direction `json:"direction"`
}

// Watch is a change under judgement.
type Watch struct {
	// At is when it was applied, Until when judgement ends.
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
	// Back is the setting to which it would be rolled back.
	Back Setting `json:"back"`
	// Done is the share of tasks that ended well before it, Failed the share of load failures.
	Done   Share `json:"done"`
	Failed Share `json:"failed"`
}

// current is the setting, with the zero value read as the base.
func (m *Memory) current() Setting {
	if m.Setting.Retries == 0 && m.Setting.Stretch == 0 && m.Setting.Pay == nil && m.Setting.Source == nil {
		return Base()
	}
	return m.Setting.within()
}

// last is the newest change, or the zero one.
func (m *Memory) last() Change {
	if len(m.Changes) == 0 {
		return Change{}
	}
	return m.Changes[len(m.Changes)-1]
}

// within an hour of now; those that seem to be in the future count too.
func (m *Memory) recent(now time.Time) int {
	n := 0
	for _, c := range m.Changes {
		if now.Sub(c.At) < time.Hour {
			n++
		}
	}
	return n
}

// After is the memory once the decision has been applied, or has been found to need no applying. It is not to be used
// for a decision whose application failed.
func (m Memory) After(d Decision) Memory {
	out := m
	out.Seen = d.At
	out.Watch = d.watch
	if d.pausedUntil.After(out.PausedUntil) {
		out.PausedUntil = d.pausedUntil
	}
	if !d.payUntil.IsZero() {
		out.PayUntil = d.payUntil
	}
	if !d.Changes() {
		return out
	}
	out.Setting = d.Setting
	if d.MapRun != nil {
		// Runs that ended are forgotten: there is one run at a time, or a few.
		out.Concurrency = map[string]int{d.MapRun.ARN: d.MapRun.Concurrency}
	}
	last := m.last()
	if last.Direction != 0 && last.Direction != d.Direction {
		out.Reversed = d.At
	}
	out.Changes = slices.DeleteFunc(slices.Clone(m.Changes),
		func(c Change) bool { return d.At.Sub(c.At) >= time.Hour && c != last })
	out.Changes = append(out.Changes, Change{At: d.At, Direction: d.Direction})
	return out
}
