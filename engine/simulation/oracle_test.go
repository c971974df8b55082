package simulation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
	"stepback/engine/simulation/oracle"
)

// TestTheOracleRefusesBrokenHistories damages good histories at every place where a kind of damage applies.
func TestTheOracleRefusesBrokenHistories(t *testing.T) {
	t.Parallel()
	damages := map[string]func(h []history.Event, i int) []history.Event{
		"an event is missing": func(h []history.Event, i int) []history.Event {
			if optional(h[i].Type) {
				return nil
			}
			return renumbered(slices.Delete(h, i, i+1), i, -1)
		},
		"an event comes twice": func(h []history.Event, i int) []history.Event {
			if optional(h[i].Type) {
				return nil
			}
			return renumbered(slices.Insert(h, i+1, h[i]), i+1, 1)
		},
		"time goes backwards": func(h []history.Event, i int) []history.Event {
			if i == 0 {
				return nil
			}
			h[i].Time = h[0].Time - 1
			return h
		},
		"an entry comes late": func(h []history.Event, i int) []history.Event {
			if !h[i].Type.Entered() {
				return nil
			}
			for ; i < len(h); i++ {
				h[i].Time += int64(time.Second)
			}
			return h
		},
		"another state is left": func(h []history.Event, i int) []history.Event {
			if !h[i].Type.Exited() {
				return nil
			}
			h[i].Name += "x"
			return h
		},
		"another output": func(h []history.Event, i int) []history.Event {
			if !h[i].Type.Exited() || h[i].Type == history.MapStateExited { // the result of a Map Run is not known
				return nil
			}
			h[i].Data = `{"n":99,"items":[]}`
			return h
		},
		"another end": func(h []history.Event, i int) []history.Event {
			switch h[i].Type {
			case history.ExecutionSucceeded:
				h[i].Type = history.ExecutionFailed
			case history.ExecutionFailed:
				h[i].Type = history.ExecutionSucceeded
			default:
				return nil
			}
			return h
		},
		"an event follows from itself": func(h []history.Event, i int) []history.Event {
			h[i].Previous = h[i].ID
			return h
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for s := range uint64(100) {
				c := &core{draws: fromSeed(s + 1), now: machine.Epoch}
				if err := c.simulate(); err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(c.history, cutShort) {
					continue
				}
				for i := range c.history[:min(len(c.history), 40)] {
					subject := c.subject()
					if subject.History = damage(slices.Clone(c.history), i); subject.History == nil {
						continue
					}
					n++
					if oracle.Check(subject) == nil {
						t.Fatalf("seed %d: accepted with damage at event %d %s\n%v", s+1, i+1, c.history[i].Type,
							(&Failure{Definition: c.model.Definition(), Input: c.info.Input,
								History: c.history}).Error())
					}
				}
			}
			if n < 5 {
				t.Errorf("the damage was done only %d times", n)
			}
		})
	}
}

// cutShort reports whether an event leaves open what a thread would have done next.
func cutShort(e history.Event) bool {
	return strings.HasSuffix(e.Type.String(), "Aborted") || e.Type == history.ExecutionTimedOut
}

// optional reports whether events of a type may be absent.
func optional(t history.Type) bool { return t == history.TaskSubmitted || t == history.ActivityStarted }

// renumbered shifts the IDs of the events from one place on, and all references to them.
func renumbered(h []history.Event, from, by int) []history.Event {
	for i := range h {
		if i >= from {
			h[i].ID += int64(by)
		}
		if h[i].Previous > int64(from) {
			h[i].Previous = max(h[i].Previous+int64(by), 0)
		}
	}
	return h
}
