package console

import (
	"strings"
	"time"

	"stepback/engine"
	"stepback/engine/journal"
)

// MapRunView shows a Map Run: its progress, its rate, and whether it will stay within its tolerance.
type MapRunView struct {
	*journal.MapRun
	Machine string `json:"stateMachine"`
	// Done counts the items that have ended, Bad those that failed.
	Done int64 `json:"done"`
	Bad  int64 `json:"bad"`
	// Rate is the number of items a second. Left is the remaining time at that rate. Both are 0 if unknown.
	Rate     float64        `json:"itemsPerSecond"`
	Left     time.Duration  `json:"leftNanoseconds,omitempty"`
	Took     time.Duration  `json:"tookNanoseconds"`
	Share    float64        `json:"failurePercentage"`
	Bars     []Bar          `json:"-"`
	Groups   []*Group       `json:"failures"`
	Children []ExecutionRow `json:"children"`
	Next     string         `json:"nextToken,omitempty"`
	Filter   Filter         `json:"filter"`
	Retrying Count          `json:"retrying"`
	Lost     []Lost         `json:"deadLetters,omitempty"`
	// Oldest are the running children that started first.
	Oldest []ExecutionRow `json:"runningLongest,omitempty"`
	First  bool           `json:"-"`
	Now    time.Time      `json:"at"`
}

// shownOldest is the number of longest-running children that are shown.
const shownOldest = 5

// oldest returns the running children that started first. Lists start with the newest.
func oldest(r *request, mapRun string) ([]ExecutionRow, error) {
	var last []engine.Listed
	for l, err := range r.engine.Listed(r.Context(), &engine.Query{Of: mapRun, Brief: true,
		Statuses: []engine.Status{engine.Running}}) {
		if err != nil {
			return nil, err
		}
		if last = append(last, l); len(last) == 2*shownOldest {
			last = append(last[:0], last[shownOldest:]...)
		}
	}
	var rows []ExecutionRow
	for i := len(last) - 1; i >= max(0, len(last)-shownOldest); i-- {
		row := rowOf(&last[i], r.now)
		row.Name = lastOf(row.ARN)
		rows = append(rows, row)
	}
	return rows, nil
}

func (c *Console) mapRun(r *request) (*answer, error) {
	arn := r.PathValue("arn")
	m, err := r.engine.DescribeMapRun(r.Context(), arn)
	if err != nil {
		return nil, err
	}
	v := &MapRunView{MapRun: m, Filter: filterOf(r.param), Now: r.now,
		First: r.param("after") == ""}
	label, _, _ := strings.Cut(m.Machine, "/")
	v.Machine = lastOf(label)
	t := m.Items
	v.Bad = t.Failed + t.TimedOut + t.Aborted
	v.Done = t.Succeeded + v.Bad
	v.Took = r.now.Sub(m.Started)
	if !m.Stopped.IsZero() {
		v.Took = m.Stopped.Sub(m.Started)
	}
	if s := v.Took.Seconds(); s > 0 {
		v.Rate = float64(v.Done) / s
	}
	if left := t.Pending + t.Running; m.Stopped.IsZero() && v.Rate > 0 {
		v.Left = time.Duration(float64(left) / v.Rate * float64(time.Second))
	}
	if total := t.Total(); total > 0 {
		v.Share = 100 * float64(v.Bad) / float64(total)
		x := 0.0
		for _, part := range []struct {
			class string
			n     int64
		}{{"succeeded", t.Succeeded}, {"failed", t.Failed + t.TimedOut}, {"aborted", t.Aborted}, {"running", t.Running}} {
			w := 1000 * float64(part.n) / float64(total)
			if part.n > 0 {
				v.Bars = append(v.Bars, Bar{Class: part.class, X: x, Width: w, Title: count(part.n) + " " + part.class})
			}
			x += w
		}
	}
	groups := map[string]*Group{}
	row := &MachineRow{Name: v.Machine, groups: groups}
	if _, err := counted(r.Context(), r.engine, engine.Query{Of: arn,
		Statuses: []engine.Status{engine.Failed, engine.TimedOut, engine.Aborted}}, row.group); err != nil {
		return nil, err
	}
	v.Groups = largestFirst(groups)
	if v.Retrying, err = counted(r.Context(), r.engine, engine.Query{Of: arn, Retrying: true}, nil); err != nil {
		return nil, err
	}
	q, err := v.Filter.query(arn, r.now)
	if err != nil {
		return nil, err
	}
	if v.Children, v.Next, err = r.rows(q, pageSize); err != nil {
		return nil, err
	}
	if !m.Stopped.IsZero() {
		v.Lost = c.lostBy(r, m.Execution)
	}
	if m.Stopped.IsZero() {
		if v.Oldest, err = oldest(r, arn); err != nil {
			return nil, err
		}
	}
	return &answer{Title: "Map Run of " + v.Machine, Template: "maprun", View: v, Topics: []string{arn, m.Execution},
		Still: !m.Stopped.IsZero()}, nil
}
