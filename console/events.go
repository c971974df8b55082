package console

import (
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/timeline"
)

func (c *Console) events(r *request, events []history.Event, t *timeline.Timeline) *EventsView {
	v := &EventsView{Total: len(events), From: max(1, r.number("from", 1)), Bad: r.param("failed") == "true",
		Rows: []EventRow{}}
	if id := r.number("e", 0); id > 0 && id <= int64(len(events)) {
		one := c.event(&events[id-1], events[0].Time, t, maxEvent)
		v.One = &one
		if r.param("from") == "" {
			v.From = (id-1)/shownEvents*shownEvents + 1
		}
	}
	v.Prev = max(1, v.From-shownEvents)
	if v.From == 1 {
		v.Prev = 0
	}
	const brief = 160
	for i := v.From - 1; i < int64(len(events)); i++ {
		e := &events[i]
		if v.Bad && (e.More == nil || e.More.Failure.IsZero()) {
			continue
		}
		if len(v.Rows) == shownEvents {
			v.Next = e.ID
			break
		}
		row := c.event(e, events[0].Time, t, brief)
		row.Data.Text = strings.Join(strings.Fields(row.Data.Text), " ")
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (c *Console) event(e *history.Event, begin int64, t *timeline.Timeline, most int) EventRow {
	row := EventRow{ID: e.ID, Previous: e.Previous, At: e.At(), After: time.Duration(e.Time - begin),
		Type: e.Type.String(), State: e.Name, Data: c.payload(e.Data, most)}
	if v := t.Of(e.ID); v != nil {
		row.State = v.State
	}
	if e.More != nil && !e.More.Failure.IsZero() {
		row.Error, row.Cause = e.More.Failure.Name, c.causeOf(e.More.Failure.Cause)
		row.Class = "failed"
	}
	return row
}
