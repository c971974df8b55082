package decide

import (
	"slices"
	"time"
)

// Direction is the direction of a change.
type Direction int

// The directions of a change. A cut takes load off the callee; a restore moves back towards the base.
const (
	Cut     Direction = -1
	Restore Direction = 1
)

// Memory is the state kept between one decision and the next. The zero Memory is that of a state that was never
// changed. It is plain data that can be stored as JSON.
type Memory struct {
	// Setting is the present setting; the zero value means [Base].
	Setting Setting `json:"setting"`
	// Concurrency holds the concurrency that the controller last set for each Map Run, by ARN.
	Concurrency map[string]int `json:"concurrency,omitempty"`
	// Seen is the time of the newest measurement that was processed.
	Seen time.Time `json:"seen"`
	// Changes holds the changes of the last hour and the one before them, oldest first.
	Changes []Change `json:"changes,omitempty"`
	// Reversed is when the direction last changed.
	Reversed time.Time `json:"reversed"`
	// Watch is the change whose effect is being judged.
	Watch *Watch `json:"watch,omitempty"`
	// PausedUntil is the end of a pause after a roll-back.
	PausedUntil time.Time `json:"pausedUntil"`
	// PayUntil is when dropped retries are tried again.
	PayUntil time.Time `json:"payUntil"`
}

// Change is one change that was applied.
type Change struct {
	At        time.Time `json:"at"`
	Direction Direction `json:"direction"`
}

// Watch is a change under judgement.
type Watch struct {
	// At is when the change was applied, Until when judgement ends.
	At    time.Time `json:"at"`
	Until time.Time `json:"until"`
	// Back is the setting to roll back to.
	Back Setting `json:"back"`
	// Done is the share of tasks that succeeded before the change. Failed is the share of attempts that failed by
	// load before it.
	Done   Share `json:"done"`
	Failed Share `json:"failed"`
}

// current returns the present setting, or the base if it is zero.
func (m *Memory) current() Setting {
	if m.Setting.Retries == 0 && m.Setting.Stretch == 0 && m.Setting.Pay == nil && m.Setting.Source == nil {
		return Base()
	}
	return m.Setting.within()
}

// last returns the newest change, or the zero one.
func (m *Memory) last() Change {
	if len(m.Changes) == 0 {
		return Change{}
	}
	return m.Changes[len(m.Changes)-1]
}

// recent counts the changes within an hour before now; changes that seem to be in the future count too.
func (m *Memory) recent(now time.Time) int {
	n := 0
	for _, c := range m.Changes {
		if now.Sub(c.At) < time.Hour {
			n++
		}
	}
	return n
}

// After returns the memory after decision d has been applied, or did not need to be applied. Do not use it for a
// decision whose application failed.
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
		// Entries of other Map Runs are dropped, because only one or a few run at a time.
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
