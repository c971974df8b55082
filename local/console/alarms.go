package console

import (
	"context"
	"encoding/json"
	"html"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
	"stepback/internal/lazyregexp"
	"stepback/retrymetrics"
)

// deployedAlarms caches the alarms that were deployed for one tick, because all open pages ask for them.
type deployedAlarms struct {
	mu   sync.Mutex
	tick time.Time
	all  []cloudwatch.Alarm
}

// deployed returns the alarms of CloudWatch, those in ALARM first. They are shared and must not be modified.
func (c *Console) deployed(ctx context.Context, live bool) ([]cloudwatch.Alarm, error) {
	if c.cfg.CloudWatch == nil {
		return nil, nil
	}
	d := &c.alarms
	now := time.Now().Truncate(tick)
	d.mu.Lock()
	all, kept := d.all, live && now.Equal(d.tick)
	d.mu.Unlock()
	if kept {
		return all, nil
	}
	all, err := cloudwatch.AllAlarms(ctx, c.cfg.CloudWatch.Client, "", "")
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.tick, d.all = now, all
	d.mu.Unlock()
	return all, nil
}

// inAlarm returns the alarms that are in ALARM.
func inAlarm(all []cloudwatch.Alarm) []cloudwatch.Alarm {
	return slices.DeleteFunc(slices.Clone(all), func(a cloudwatch.Alarm) bool { return a.State != render.Alarming })
}

// watchedOf returns the names of the retry metrics of a state machine that a deployed alarm watches. The metrics of
// AWS/States on executions that fail are those that the retry metrics call ExecutionsFailed.
func watchedOf(a *cloudwatch.Alarm, machine string) []string {
	failed := retrymetrics.ExecutionsFailed.Name()
	var names []string
	for _, q := range a.Watched {
		if q.Metric == nil {
			continue
		}
		for _, d := range q.Metric.Dimensions {
			switch {
			case q.Metric.Namespace == retrymetrics.Namespace && d.Name == string(retrymetrics.StateMachine) &&
				d.Value == machine:
				names = append(names, q.Metric.Name)
			case q.Metric.Namespace == "AWS/States" && d.Name == "StateMachineArn" && lastOf(d.Value) == machine &&
				slices.Contains([]string{"ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted"}, q.Metric.Name):
				names = append(names, failed)
			}
		}
	}
	return names
}

// compared sets, for each of stepback's own alarms, the deployed alarm that watches the same metrics, one in ALARM if
// there is one. It returns the alarms without those that such an alarm in ALARM already reports.
func compared(own []AlarmRow, deployed []cloudwatch.Alarm) []AlarmRow {
	var left []AlarmRow
	for _, row := range own {
		repeated := false
		for i := range deployed {
			watched := watchedOf(&deployed[i], row.Machine)
			if len(row.metrics) == 0 || slices.ContainsFunc(row.metrics,
				func(m string) bool { return !slices.Contains(watched, m) }) {
				continue
			}
			if row.Deployed == "" || deployed[i].State == render.Alarming {
				row.Deployed, row.DeployedState = deployed[i].Name, deployed[i].State
			}
			repeated = repeated || deployed[i].State == render.Alarming
		}
		if !repeated {
			left = append(left, row)
		}
	}
	return left
}

// AlarmsView lists the alarms that were deployed, and those of stepback itself.
type AlarmsView struct {
	Filter   AlarmFilter        `json:"filter"`
	Deployed []cloudwatch.Alarm `json:"deployed"`
	// Own are stepback's judgement of the retries of the state machines, which needs no deployed alarms. Those that a
	// deployed alarm in ALARM already reports are left out.
	Own      []AlarmRow `json:"own"`
	Firing   int        `json:"inAlarm"`
	Recorded int        `json:"total"`
	// Matching is the number of deployed alarms that the filter leaves; Deployed is the page of them from position
	// From, of at most the parameter size. Next is the position of the next page, if there is one.
	Matching int       `json:"matching"`
	From     int64     `json:"from"`
	Next     string    `json:"next,omitempty"`
	Now      time.Time `json:"at"`
}

// AlarmFilter is the filter of the list of alarms, from the address.
type AlarmFilter struct {
	State string `json:"state,omitempty"`
	Name  string `json:"name,omitempty"` // part of the name
}

// Set reports whether the filter excludes anything.
func (f AlarmFilter) Set() bool { return f != AlarmFilter{} }

func (c *Console) listAlarms(r *request) (*answer, error) {
	all, err := c.deployed(r.Context(), r.live)
	if err != nil {
		return nil, err
	}
	machines, err := c.listMachines(r.Context())
	if err != nil {
		return nil, err
	}
	v := &AlarmsView{Filter: AlarmFilter{strings.ToUpper(r.param("state")), r.param("name")}, Now: r.now,
		Deployed: []cloudwatch.Alarm{}, Own: []AlarmRow{}, Firing: len(inAlarm(all)), Recorded: len(all)}
	for _, a := range all {
		if (v.Filter.State == "" || a.State == v.Filter.State) && strings.Contains(strings.ToLower(a.Name), strings.ToLower(v.Filter.Name)) {
			v.Deployed = append(v.Deployed, a)
		}
	}
	size := min(mostListed, max(1, r.number("size", pageSize)))
	v.Matching, v.From = len(v.Deployed), min(r.number("from", 0), int64(len(v.Deployed)))
	if v.Deployed = v.Deployed[v.From:]; int64(len(v.Deployed)) > size {
		v.Deployed, v.Next = v.Deployed[:size], strconv.FormatInt(v.From+size, 10)
	}
	names, err := c.retriers(r.Context(), machines)
	if err != nil {
		return nil, err
	}
	v.Own = append(v.Own, compared(c.charts.firing(names, r.now), all)...)
	return &answer{Title: "Alarms", Template: "alarms", View: v, Every: refreshed}, nil
}

// AlarmView is a deployed alarm with its graph, its history and, of a composite alarm, its children.
type AlarmView struct {
	*cloudwatch.Alarm
	Span     Span               `json:"span"`
	Children []cloudwatch.Alarm `json:"children,omitempty"`
	Parents  []string           `json:"parents,omitempty"`
	History  []AlarmEvent       `json:"history"`
	Graph    []ShownWidget      `json:"-"`
	Now      time.Time          `json:"at"`
}

// AlarmEvent is an item of an alarm's history, with the result of an action.
type AlarmEvent struct {
	cloudwatch.Event
	// Result is Succeeded or Failed for an action, and the new state for a change of state.
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"`
}

// shownHistory is the number of history items on an alarm's page.
const shownHistory = 100

func (c *Console) alarm(r *request) (*answer, error) {
	name := r.PathValue("name")
	if c.cfg.CloudWatch == nil {
		return nil, errNoCloudWatch
	}
	api := c.cfg.CloudWatch.Client
	a, err := cloudwatch.OneAlarm(r.Context(), api, name)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, &notFound{"There is no alarm " + name + "."}
	}
	v := &AlarmView{Alarm: a, Now: r.now, History: []AlarmEvent{}}
	window, span, err := r.window("usual", func() (render.Window, error) {
		return render.Window{From: r.now.Add(-alarmRange(a)), To: r.now, Now: r.now}, nil
	})
	if err != nil {
		return nil, err
	}
	v.Span = span
	if a.Composite {
		if v.Children, err = cloudwatch.Children(r.Context(), api, name); err != nil {
			return nil, err
		}
	} else {
		page, err := c.metricsOf(r.Context(), a.ARN, window)
		if err != nil {
			return nil, err
		}
		v.Graph = shownWidgets(&page)
	}
	events, err := cloudwatch.History(r.Context(), api, name, shownHistory)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		v.History = append(v.History, eventOf(e))
	}
	if v.Parents, err = c.parents(r.Context(), name, r.live); err != nil {
		return nil, err
	}
	out := &answer{Title: name, Template: "alarm", View: v, Every: refreshed}
	if span.Fixed {
		out.Every, out.Still = 0, true
	}
	return out, nil
}

// alarmRange returns how far back an alarm's graph shows: three hours, or ten times what the alarm evaluates.
func alarmRange(a *cloudwatch.Alarm) time.Duration {
	least := 3 * time.Hour
	for _, q := range a.Watched {
		least = max(least, 36*q.Period)
	}
	return least
}

// eventOf adds the result of a history item from its data.
func eventOf(e cloudwatch.Event) AlarmEvent {
	var data struct {
		ActionState string `json:"actionState"`
		Error       string `json:"error"`
		NewState    struct {
			Value  string `json:"stateValue"`
			Reason string `json:"stateReason"`
		} `json:"newState"`
	}
	_ = json.Unmarshal([]byte(e.Data), &data) // the data of other endpoints may have another form
	out := AlarmEvent{Event: e, Result: data.ActionState, Why: data.Error}
	if data.NewState.Value != "" {
		out.Result, out.Why = data.NewState.Value, data.NewState.Reason
	}
	return out
}

// parents returns the names of the composite alarms whose rule contains an alarm.
func (c *Console) parents(ctx context.Context, name string, live bool) ([]string, error) {
	all, err := c.deployed(ctx, live)
	var names []string
	for i := range all {
		if all[i].Composite && (strings.Contains(all[i].Rule, `"`+name+`"`) || strings.Contains(all[i].Rule, "("+name+")") ||
			strings.Contains(all[i].Rule, ":alarm:"+name+`"`) || strings.Contains(all[i].Rule, ":alarm:"+name+")")) {
			names = append(names, all[i].Name)
		}
	}
	return names, err
}

// addresses matches URLs in a text.
var addresses = lazyregexp.New(`https?://[^\s<>"']+[^\s<>"'.,;:)\]]`)

// linked returns a text as HTML with links for its URLs. Links to the AWS Management Console lead to this console.
func linked(text string) template.HTML {
	var b strings.Builder
	for {
		at := addresses.FindStringIndex(text)
		if at == nil {
			b.WriteString(html.EscapeString(text))
			return template.HTML(b.String()) //nolint:gosec // escaped
		}
		to := localLink(text[at[0]:at[1]])
		b.WriteString(html.EscapeString(text[:at[0]]))
		shown := to
		if strings.HasPrefix(to, Path) {
			shown = unescaped(strings.TrimPrefix(to, Path))
		}
		b.WriteString(`<a href="` + html.EscapeString(to) + `">` + html.EscapeString(shown) + `</a>`)
		text = text[at[1]:]
	}
}

// alarmURL returns the address of an alarm's page.
func alarmURL(name string) string { return Path + "alarms/" + url.PathEscape(name) }
