package console

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"time"

	"stepback/dashboards"
	"stepback/dashboards/render"
	"stepback/retrymetrics"
)

// charts caches the metric data for a moment, because many pages ask for them.
type charts struct {
	points   func() ([]retrymetrics.Point, error)
	complete func() // waits until points are complete; nil means that they are

	mu    sync.Mutex
	kept  map[string][]retrymetrics.Point // by state machine
	stood map[string][]AlarmRow           // the alarms evaluated from these data, by state machine
	until time.Time                       // when the cached data expire
	err   error
}

// Metric data are cached for the duration fresh, or for worthTimes the duration of reading them if that is longer.
const (
	fresh      = 5 * time.Second
	worthTimes = 100
)

// of returns the metric data of a state machine.
func (c *charts) of(machine string) ([]retrymetrics.Point, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.points == nil {
		return nil, nil
	}
	if c.complete != nil {
		c.complete()
	}
	if began := time.Now(); began.After(c.until) {
		var all []retrymetrics.Point
		all, c.err = c.points()
		c.kept = map[string][]retrymetrics.Point{}
		for i := range all {
			c.kept[all[i].Labels.StateMachine] = append(c.kept[all[i].Labels.StateMachine], all[i])
		}
		c.stood = map[string][]AlarmRow{}
		c.until = time.Now().Add(max(fresh, worthTimes*time.Since(began)))
	}
	return c.kept[machine], c.err
}

// chart serves the dashboard of a state machine as SVG.
func (c *Console) chart(w http.ResponseWriter, r *http.Request) {
	machine := strings.TrimSuffix(r.PathValue("name"), ".svg")
	points, err := c.charts.of(machine)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: machine, Region: c.cfg.Scope.Region,
		General: !retrymetrics.OfImport(machine, points)})
	if err != nil {
		c.failed(w, r, err)
		return
	}
	body, err := d.Body()
	if err != nil {
		c.failed(w, r, err)
		return
	}
	var out bytes.Buffer
	data := render.Points(points)
	page, err := render.Load(r.Context(), machine, body, data, data.Window())
	if err != nil {
		c.failed(w, r, err)
		return
	}
	page.WithData = true
	if err := page.SVG(&out); err != nil {
		c.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	// The picture contains its own style sheet and loads nothing.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	send(w, r, out.Bytes())
}
