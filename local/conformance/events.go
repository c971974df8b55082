package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// event is one history event, as decoded JSON.
type event map[string]any

func (e event) typ() string { s, _ := e["type"].(string); return s }

func (e event) id() int64 { return whole(e["id"]) }

func (e event) previous() int64 { return whole(e["previousEventId"]) }

// unordered reports whether the recording leaves open at which position the event comes.
func (e event) unordered() bool { _, list := e["id"].([]any); return list }

func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return i
}

// without returns the event without some members.
func (e event) without(members ...string) map[string]any {
	out := maps.Clone(map[string]any(e))
	for _, m := range members {
		delete(out, m)
	}
	return out
}

func eventsOf(v any) []event {
	list, _ := v.([]any)
	events := make([]event, len(list))
	for i, e := range list {
		o, _ := e.(map[string]any)
		events[i] = event(o)
	}
	return events
}

// histories compares two histories and returns every difference.
func (u *unifier) histories(want, got []event) []*Mismatch {
	if u.drift["MapStateExited.previousEventId"] {
		want, got = newer(want), newer(got)
	}
	if anyOf(want, event.unordered) {
		return u.bags(want, got)
	}
	before := maps.Clone(u.bound)
	line := u.line(want, got)
	if len(line) == 0 || !anyOf(want, joins) {
		return line
	}
	u.bound = before
	if m := u.trees(want, got); m != nil {
		return append([]*Mismatch{m}, line...)
	}
	return nil
}

func joins(e event) bool {
	return strings.HasPrefix(e.typ(), "MapState") || strings.HasPrefix(e.typ(), "ParallelState")
}

func anyOf(events []event, is func(event) bool) bool {
	for _, e := range events {
		if is(e) {
			return true
		}
	}
	return false
}

// newer returns the events with one change: the exit of a distributed Map follows from the start of its Map Run, as
// on AWS since November 2024.
func newer(events []event) []event {
	byID := map[int64]event{}
	for _, e := range events {
		byID[e.id()] = e
	}
	out := make([]event, len(events))
	for i, e := range events {
		out[i] = e
		if before := byID[e.previous()]; e.typ() == "MapStateExited" && before.typ() == "MapRunSucceeded" {
			out[i] = maps.Clone(e)
			out[i]["previousEventId"] = before["previousEventId"]
		}
	}
	return out
}

// line compares histories event by event.
func (u *unifier) line(want, got []event) []*Mismatch {
	var out []*Mismatch
	for i := range max(len(want), len(got)) {
		path := fmt.Sprintf("events[%d]", i+1)
		switch {
		case i >= len(got):
			out = append(out, &Mismatch{path, want[i], absent{}})
		case i >= len(want):
			out = append(out, &Mismatch{path, absent{}, got[i]})
		default:
			if m := u.attempt(path+"."+want[i].typ(), map[string]any(want[i]), map[string]any(got[i])); m != nil {
				out = append(out, m)
			}
		}
	}
	return out
}

// bags compares histories in which some events may come in any order. Such recordings omit the events that join the
// branches.
func (u *unifier) bags(want, got []event) []*Mismatch {
	left := map[int64]event{}
	for _, e := range got {
		left[e.id()] = e
	}
	var out []*Mismatch
	for _, w := range want {
		if w.unordered() {
			continue
		}
		m := u.attempt(w.typ(), w.without("previousEventId"), left[w.id()].without("previousEventId"))
		if m != nil {
			out = append(out, m)
		}
		delete(left, w.id())
	}
	for _, w := range want {
		if w.unordered() && !u.take(w, left) {
			out = append(out, &Mismatch{w.typ(), map[string]any(w), absent{}})
		}
	}
	for _, e := range left {
		if t := e.typ(); !isJoin(t) && !isExit(t) {
			out = append(out, &Mismatch{t, absent{}, map[string]any(e)})
		}
	}
	return out
}

// take removes an event equal to w from the bag and reports whether it found one.
func (u *unifier) take(w event, bag map[int64]event) bool {
	for id, e := range bag {
		if u.attempt(w.typ(), w.without("id", "previousEventId"), e.without("id", "previousEventId")) == nil {
			delete(bag, id)
			return true
		}
	}
	return false
}
