package retrypatterns

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"stepback/retry"
)

// Compilation is a compiled Retry array of a state, with notes about it.
type Compilation struct {
	Retry []Retrier
	Notes []Note
}

// Compile compiles a state's rows to its ASL Retry array, row by row in the table's order. What ASL cannot express is
// replaced by the nearest equivalent and described by a [Note]. It returns an error (of joined [RowError] values) if
// Step Functions would reject a row, and an error if the table does not contain the state.
func (t Table) Compile(state string) (Compilation, error) {
	s, ok := t.State(state)
	if !ok {
		return Compilation{}, fmt.Errorf("state %q is not in the retry table; it has %s", state, t.names())
	}
	return s.Compile()
}

func (t Table) names() []string {
	names := make([]string, len(t.States))
	for i, s := range t.States {
		names[i] = s.State
	}
	return names
}

// Compile works like [Table.Compile] for one state.
func (s StateRetries) Compile() (Compilation, error) {
	if problems := s.problems(); len(problems) > 0 {
		return Compilation{}, errors.Join(problems...)
	}
	var c Compilation
	for i, row := range s.Rows {
		lowering := lowering{state: s.State, row: i + 1}
		c.Retry = append(c.Retry, lowering.retrier(row))
		c.Notes = append(c.Notes, lowering.notes...)
		c.Notes = append(c.Notes, shadowed(s, i)...)
	}
	return c, nil
}

// lowering compiles one valid row and collects notes about it.
type lowering struct {
	state string
	row   int
	notes []Note
}

func (l *lowering) note(kind NoteKind, field, from, to string) {
	l.notes = append(l.notes, Note{kind, l.state, l.row, field, from, to})
}

func (l *lowering) retrier(row Row) Retrier {
	r := Retrier{ErrorEquals: slices.Clone(row.Errors), MaxAttempts: row.Policy.MaxAttempts, Comment: row.Comment}
	if r.MaxAttempts == 0 {
		return r
	}
	r.IntervalSeconds = l.seconds("IntervalSeconds", row.Policy.Interval, 1, retry.MaxIntervalSeconds)
	r.BackoffRate = row.Policy.Rate
	if row.Policy.MaxDelay > 0 {
		// After rounding, the cap must still be above the interval.
		r.MaxDelaySeconds = l.seconds("MaxDelaySeconds", row.Policy.MaxDelay, r.IntervalSeconds+1, retry.MaxDelaySeconds)
	}
	r.JitterStrategy = l.jitter(row.Policy.Jitter)
	return r
}

// seconds rounds to whole seconds, half a second up, and clamps the result to [lowest, highest].
func (l *lowering) seconds(field string, d time.Duration, lowest, highest int) int {
	whole := int(d / time.Second)
	if d%time.Second >= time.Second/2 {
		whole++
	}
	switch clamped := min(max(whole, lowest), highest); {
	case clamped != whole:
		l.note(ValueClamped, field, d.String(), strconv.Itoa(clamped))
		return clamped
	case d%time.Second != 0:
		l.note(SecondsRounded, field, d.String(), strconv.Itoa(whole))
	}
	return whole
}

func (l *lowering) jitter(j retry.Jitter) retry.Jitter {
	switch j {
	case "", retry.JitterNone:
		return retry.JitterNone
	case retry.JitterFull:
		return retry.JitterFull
	default:
		l.note(JitterLowered, "JitterStrategy", string(j), string(retry.JitterFull))
		return retry.JitterFull
	}
}

// shadowed returns notes for the names of row i that an earlier row of the state matches.
func shadowed(s StateRetries, i int) []Note {
	var notes []Note
	for _, name := range s.Rows[i].Errors {
		by := slices.IndexFunc(s.Rows[:i], func(earlier Row) bool { return matches(earlier.Errors, name) })
		if by >= 0 {
			notes = append(notes, Note{ErrorShadowed, s.State, i + 1, "ErrorEquals", name, fmt.Sprintf("row %d", by+1)})
		}
	}
	return notes
}

// matches reports whether a retrier with errorEquals matches every error that a retrier for name would:
// States.TaskFailed matches everything except a timeout.
func matches(errorEquals []string, name string) bool {
	if slices.Contains(errorEquals, name) {
		return true
	}
	return slices.Contains(errorEquals, retry.StatesTaskFailed) &&
		name != retry.StatesTimeout && name != retry.StatesALL
}
