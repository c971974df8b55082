package console

import (
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

func (c *Console) events(r *request, events []history.Event, t *timeline.Timeline) *EventsView {
	v := &EventsView{Total: len(events), From: max(1, r.number("from", 1)), Bad: r.param("failed") == "true",
		Rows: []EventRow{}}
	if id := r.number("e", 0); id > 0 && id <= int64(len(events)) {
		one := c.event(&events[id-1], events[0].Time, t)
		one.Data = c.payload(events[id-1].Data, maxEvent)
		v.One = &one
		if r.param("from") == "" {
			v.From = (id-1)/shownEvents*shownEvents + 1
		}
	}
	v.Prev = max(1, v.From-shownEvents)
	if v.From == 1 {
		v.Prev = 0
	}
	for i := v.From - 1; i < int64(len(events)); i++ {
		e := &events[i]
		if v.Bad && (e.More == nil || e.More.Failure.IsZero()) {
			continue
		}
		if len(v.Rows) == shownEvents {
			v.Next = e.ID
			break
		}
		row := c.event(e, events[0].Time, t)
		row.Data = c.brief(e.Data)
		row.Shape = shape(e.Data)
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (c *Console) event(e *history.Event, begin int64, t *timeline.Timeline) EventRow {
	row := EventRow{ID: e.ID, Previous: e.Previous, At: e.At(), After: time.Duration(e.Time - begin),
		Type: e.Type.String(), State: e.Name}
	if t.Durable {
		row.Type = durable.EventType(e.Type)
	}
	if v := t.Of(e.ID); v != nil {
		row.State = v.State
	}
	if f := durable.FailureOf(e); !f.IsZero() {
		row.Error, row.Cause, row.Class = f.Name, c.causeOf(f.Cause), "failed"
	}
	return row
}

// brief returns the start of a payload on one line.
func (c *Console) brief(s string) Payload {
	const most = 160
	p := Payload{Text: s, Bytes: len(s)}
	if c.hidden.any() {
		p.Text = c.hidden.text(s)
	}
	p.Text = strings.Join(strings.Fields(strings.ToValidUTF8(p.Text[:min(len(p.Text), 2*most)], "")), " ")
	if len(p.Text) > most {
		p.Text, p.Cut = strings.ToValidUTF8(p.Text[:most], ""), true
	}
	return p
}
