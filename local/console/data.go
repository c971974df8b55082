package console

import (
	"encoding/json"
	"fmt"
	"strings"

	"stepback/engine/history"
	"stepback/engine/timeline"
)

// DataView shows what an execution's states did to its data, one page of it.
type DataView struct {
	Rows  []DataRow `json:"rows"`
	Total int       `json:"total"`
	From  int       `json:"from"`
	Next  int       `json:"next,omitempty"`
	Prev  int       `json:"prev"`
	State string    `json:"state,omitempty"`
	// Again is the whole input, for starting another execution with it; empty if any of its members are hidden.
	Again string `json:"-"`
}

// DataRow is a visit to a state: its input, its output, and the lines that differ.
type DataRow struct {
	State   string           `json:"state"`
	Index   int64            `json:"index"`
	Entry   int64            `json:"entryEventId"`
	Exit    int64            `json:"exitEventId,omitempty"`
	Outcome timeline.Outcome `json:"outcome"`
	In      int              `json:"inputBytes"`
	Out     int              `json:"outputBytes"`
	Diff    []DiffLine       `json:"difference,omitempty"`
	// Long is true if only part of the payloads is compared.
	Long bool `json:"long,omitempty"`
}

const (
	shownData  = 25       // rows on a page
	comparedOf = 16 << 10 // bytes of a payload that are compared
	shownLines = 80       // lines of a difference
)

// data compares the input of each state with its output.
func (c *Console) data(r *request, events []history.Event, t *timeline.Timeline) *DataView {
	v := &DataView{Rows: []DataRow{}, State: r.param("state"), From: int(r.number("from", 0))}
	var shown []*timeline.Visit
	for _, visit := range t.Visits {
		if v.State == "" || visit.State == v.State {
			shown = append(shown, visit)
		}
	}
	v.Total = len(shown)
	v.From = min(v.From, max(0, v.Total-1))
	v.Prev = max(0, v.From-shownData)
	end := min(v.Total, v.From+shownData)
	if end < v.Total {
		v.Next = end
	}
	for _, visit := range shown[v.From:end] {
		row := DataRow{State: visit.State, Index: visit.Index, Entry: visit.Entry, Exit: visit.Exit,
			Outcome: visit.Outcome}
		in, out := dataOf(events, visit.Entry), dataOf(events, visit.Exit)
		row.In, row.Out = len(in), len(out)
		if visit.Exit != 0 {
			a, b := c.payload(in, comparedOf), c.payload(out, comparedOf)
			row.Long = a.Cut || b.Cut
			if row.Diff = diff(a.Text, b.Text); len(row.Diff) > shownLines {
				row.Diff, row.Long = row.Diff[:shownLines], true
			}
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// dataOf returns the payload of an event by its ID, or "" if there is none.
func dataOf(events []history.Event, id int64) string {
	if len(events) == 0 || id < events[0].ID || id-events[0].ID >= int64(len(events)) {
		return ""
	}
	return events[id-events[0].ID].Data
}

const (
	shapedBytes   = 8 << 10 // of larger payloads only the size is shown
	shapedMembers = 8
)

// shape describes a payload without its values: {card, note}, [3], text.
func shape(s string) string {
	if s == "" || len(s) > shapedBytes {
		return ""
	}
	d := json.NewDecoder(strings.NewReader(s))
	t, err := d.Token()
	if err != nil {
		return "text"
	}
	var names []string
	elements, skip := 0, json.RawMessage{}
	for (t == json.Delim('{') || t == json.Delim('[')) && d.More() {
		if t == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return "text"
			}
			names = append(names, fmt.Sprint(name))
		}
		if err := d.Decode(&skip); err != nil {
			return "text"
		}
		elements++
	}
	switch t.(type) {
	case json.Delim:
		if t == json.Delim('[') {
			return fmt.Sprintf("[%d]", elements)
		}
		if len(names) > shapedMembers {
			names = append(names[:shapedMembers], "…")
		}
		return "{" + strings.Join(names, ", ") + "}"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	}
	return "null"
}
