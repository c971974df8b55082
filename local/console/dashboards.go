package console

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
)

// DashboardsView lists the dashboards that were deployed.
type DashboardsView struct {
	Dashboards []cloudwatch.Dashboard `json:"dashboards"`
}

// errNoCloudWatch reports that the server has no CloudWatch.
var errNoCloudWatch = &notFound{"There is no CloudWatch on this server."}

func (c *Console) dashboards(r *request) (*answer, error) {
	if c.cfg.CloudWatch == nil {
		return nil, errNoCloudWatch
	}
	all, err := cloudwatch.List(r.Context(), c.cfg.CloudWatch.Client)
	if err != nil {
		return nil, err
	}
	return &answer{Title: "Dashboards", Template: "dashboards", View: &DashboardsView{all}, Every: refreshed}, nil
}

// refreshed is the interval at which pages of metric data and alarms update themselves.
const refreshed = 15 * time.Second

// Range is a range of time that a page offers.
type Range struct {
	Name string
	back time.Duration
}

// ranges are the ranges that pages with metric data offer, up to the 15 months for which data are kept.
var ranges = []Range{{"1h", time.Hour}, {"3h", 3 * time.Hour}, {"12h", 12 * time.Hour}, {"1d", day}, {"3d", 3 * day},
	{"1w", 7 * day}, {"4w", 28 * day}, {"3mo", 91 * day}, {"6mo", 182 * day}, {"15mo", 455 * day}}

// Span is the range of time that a page shows, and the ones it leads to.
type Span struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Name    string    `json:"range,omitempty"` // of Range; empty for two times, or if the data choose
	Fixed   bool      `json:"fixed,omitempty"` // two times were given
	Usual   string    `json:"-"`               // the name of the range that is shown without parameters
	Ranges  []Range   `json:"-"`
	Earlier Ends      `json:"-"`
	Later   Ends      `json:"-"`
	In      Ends      `json:"-"`
	Out     Ends      `json:"-"`
}

// Ends are the two ends of a range, as parameters of an address.
type Ends struct{ From, To string }

// inputLayout is the layout of times in forms.
const inputLayout = "2006-01-02T15:04:05"

// Start returns the beginning of the range for a form.
func (s Span) Start() string { return s.From.UTC().Format(inputLayout) }

// End returns the end of the range for a form.
func (s Span) End() string { return s.To.UTC().Format(inputLayout) }

func ends(from, to time.Time) Ends {
	return Ends{from.UTC().Format(inputLayout), to.UTC().Format(inputLayout)}
}

// leastSpan is the shortest range that a page shows.
const leastSpan = time.Minute

// window returns the range of time that a request asks for: from and to, or a range up to now. Otherwise usual chooses
// it, under the given name.
func (r *request) window(name string, usual func() (render.Window, error)) (render.Window, Span, error) {
	w, s := render.Window{To: r.now, Now: r.now}, Span{Ranges: ranges, Usual: name}
	from, to := parseTime(r.param("from")), parseTime(r.param("to"))
	switch i := slices.IndexFunc(ranges, func(o Range) bool { return o.Name == r.param("range") }); {
	case r.param("from")+r.param("to") != "":
		if from.IsZero() || to.IsZero() || to.Sub(from) < leastSpan || r.now.Sub(from) > 10*365*day {
			return w, s, &badForm{fmt.Sprintf("from=%s and to=%s are no range: give two times such as 2026-11-22T10:00:00, at least a minute "+
				"apart, the earlier one first.", r.param("from"), r.param("to"))}
		}
		w.From, w.To, s.Fixed = from, to, true
	case i >= 0:
		w.From, s.Name = r.now.Add(-ranges[i].back), ranges[i].Name
	case r.param("range") != "":
		return w, s, &badForm{"range=" + r.param("range") + " is none of the ranges on the page."}
	default:
		var err error
		if w, err = usual(); err != nil {
			return w, s, err
		}
	}
	s.From, s.To = w.From, w.To
	d := w.To.Sub(w.From)
	s.Earlier, s.Later = ends(w.From.Add(-d/2), w.To.Add(-d/2)), ends(w.From.Add(d/2), w.To.Add(d/2))
	s.In, s.Out = ends(w.From.Add(d/4), w.To.Add(-d/4)), ends(w.From.Add(-d/2), w.To.Add(d/2))
	if d/2 < leastSpan {
		s.In = ends(w.From, w.To)
	}
	return w, s, nil
}

// parseTime parses a time in UTC, with or without its zone and seconds; zero if it is none.
func parseTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, inputLayout, "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// DashboardView is a dashboard with its data.
type DashboardView struct {
	Name    string           `json:"name"`
	Span    Span             `json:"span"`
	Widgets []*render.Widget `json:"widgets"`
	Shown   []ShownWidget    `json:"-"`
	Now     time.Time        `json:"at"`
}

// ShownWidget is a widget as a page shows it.
type ShownWidget struct {
	*render.Widget
	Text    template.HTML // of a text widget
	Picture render.Picture
	Details *render.Table
	Alarms  []render.Alarm
}

// Zooms reports whether the widget is a time series, in which a range can be selected.
func (w ShownWidget) Zooms() bool { return w.Picture.Plot.Right > 0 }

func (c *Console) dashboard(r *request) (*answer, error) {
	if c.cfg.CloudWatch == nil {
		return nil, errNoCloudWatch
	}
	name := r.PathValue("name")
	body, err := cloudwatch.Body(r.Context(), c.cfg.CloudWatch.Client, name)
	if err != nil {
		return nil, missing(err, "There is no dashboard "+name+".")
	}
	w, span, err := r.window("as the data", func() (render.Window, error) { return c.cfg.CloudWatch.Around(r.Context(), body, r.now) })
	if err != nil {
		return nil, err
	}
	page, err := render.Load(r.Context(), name, body, c.cfg.CloudWatch, w)
	if err != nil {
		return nil, err
	}
	v := &DashboardView{Name: name, Span: span, Now: r.now, Widgets: page.Ordered()}
	v.Shown = shownWidgets(&page)
	a := &answer{Title: name, Template: "dashboard", View: v, Every: refreshed}
	if span.Fixed {
		a.Every, a.Still = 0, true
	}
	return a, nil
}

// shownWidgets draws the widgets of a page.
func shownWidgets(p *render.Page) []ShownWidget {
	ordered := p.Ordered()
	all := make([]ShownWidget, 0, len(ordered))
	for _, w := range ordered {
		s := ShownWidget{Widget: w}
		switch {
		case w.Type == "text" && w.Problem == "":
			s.Text = w.HTML(localLink)
		case w.Type == "alarm" && w.Problem == "":
			s.Alarms = w.Alarms
		default:
			s.Picture = w.Picture(p.Window)
			if t, ok := w.Details(); ok {
				s.Details = &t
			}
		}
		all = append(all, s)
	}
	return all
}

// missing returns a notFound with the given text if a service reports that something does not exist; other errors
// unchanged.
func missing(err error, text string) error {
	if strings.Contains(err.Error(), "ResourceNotFound") || strings.Contains(err.Error(), "does not exist") {
		return &notFound{text}
	}
	return err
}

// awsConsole is the host of the AWS Management Console in each partition, without its region.
var awsConsole = []string{"console.aws.amazon.com", "console.amazonaws.cn", "console.amazonaws-us-gov.com"}

// localLink returns the address on this console for an address of the AWS Management Console: its page of a dashboard,
// an alarm, a state machine, an execution, a log group, or a service. Other addresses are returned unchanged.
func localLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || !slices.ContainsFunc(awsConsole, func(host string) bool {
		return u.Host == host || strings.HasSuffix(u.Host, "."+host)
	}) {
		return address
	}
	service, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	f := strings.TrimPrefix(u.Fragment, "/")
	after := func(begins ...string) string {
		for _, b := range begins {
			if name, ok := strings.CutPrefix(f, b); ok {
				name, _, _ = strings.Cut(name, "?")
				name, _, _ = strings.Cut(name, ";")
				return cmp.Or(unescaped(name), "-")
			}
		}
		return ""
	}
	switch {
	case service == "cloudwatch" && after("dashboards:name=", "dashboards/dashboard/") != "":
		return Path + "dashboards/" + url.PathEscape(after("dashboards:name=", "dashboards/dashboard/"))
	case service == "cloudwatch" && after("alarmsV2:alarm/", "alarm:name=", "alarm:alarmFilter=ANY;name=") != "":
		return Path + "alarms/" + url.PathEscape(after("alarmsV2:alarm/", "alarm:name=", "alarm:alarmFilter=ANY;name="))
	case service == "cloudwatch" && after("logsV2:log-groups/log-group/", "logStream:group=") != "":
		group := strings.ReplaceAll(after("logsV2:log-groups/log-group/", "logStream:group="), "$252F", "/")
		return Path + "logs?group=" + url.QueryEscape(group)
	case service == "cloudwatch" && strings.HasPrefix(f, "alarms"):
		return Path + "alarms"
	case service == "cloudwatch" && strings.HasPrefix(f, "dashboards"):
		return Path + "dashboards"
	case service == "states" && after("statemachines/view/") != "":
		return Path + "machines/" + url.PathEscape(lastOf(after("statemachines/view/")))
	case service == "states" && after("executions/details/", "v2/executions/details/") != "":
		return executionURL(after("executions/details/", "v2/executions/details/"))
	case service == "lambda", service == "sqs", service == "sns", service == "dynamodb", service == "s3", service == "cloudformation":
		return Path + "services/" + service
	}
	return address
}

// Address returns the address on the console at endpoint, such as http://localhost:4566, for an address of the AWS
// Management Console: the page of a dashboard, an alarm, a state machine, an execution, a log group, or a service.
// Other addresses are returned unchanged.
func Address(endpoint, address string) string {
	if to := localLink(address); strings.HasPrefix(to, Path) {
		return endpoint + to
	}
	return address
}

// unescaped returns a text without its percent-encoding; unchanged if it is malformed.
func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil && !strings.Contains(text, "+") {
		return plain
	}
	return text
}

// metricsOf returns a page of one widget that shows what an alarm watches, with its threshold.
func (c *Console) metricsOf(ctx context.Context, arn string, w render.Window) (render.Page, error) {
	body := fmt.Appendf(nil, `{"periodOverride":"inherit","widgets":[{"type":"metric","width":18,"height":7,"properties":{"annotations":{"alarms":[%q]}}}]}`, arn)
	return render.Load(ctx, "", body, c.cfg.CloudWatch, w)
}
