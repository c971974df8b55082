package retries

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stepback/alarms"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
	"stepback/dashboards"
	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
	"stepback/local"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// Dashboard implements the verb dashboard.
type Dashboard struct {
	List    DashboardList       `cmd:"" help:"List the dashboards of a data directory, an endpoint or AWS."`
	Render  DashboardRender     `cmd:"" help:"Draw a dashboard as HTML, SVG or PNG: a stored one, or the retry dashboard of a data directory."`
	Grafana dashboardGrafanaCmd `cmd:"" help:"Print the retry dashboard for Grafana to import, based on the metrics of serve."`
	Body    dashboardBodyCmd    `cmd:"" help:"Print the retry dashboard of a state machine as the body for CloudWatch's PutDashboard."`
}

// DashboardList implements the verb dashboard list.
type DashboardList struct {
	JSON bool `name:"json" help:"Print them as JSON."`
	workspace.Where
}

// Help shows examples.
func (DashboardList) Help() string {
	return `Examples:
  stepback dashboard list
  stepback dashboard list --aws --json`
}

// Run lists the dashboards.
func (c *DashboardList) Run(ctx context.Context, std terminal.Streams) error {
	return c.CloudWatch(ctx, func(s *cloudwatch.Source) error {
		all, err := cloudwatch.List(ctx, s.Client)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.PrintJSON(std.Out, all)
		}
		if len(all) == 0 {
			fmt.Fprintln(std.Err, "no dashboards")
			return nil
		}
		t := terminal.NewTable("dashboard", "modified", ">bytes")
		for _, d := range all {
			t.Add(d.Name, d.Modified.Local().Format(time.DateTime), terminal.Grouped(int64(d.Bytes)))
		}
		t.Print(std.Out, "")
		return nil
	})
}

// DashboardRender implements the verb dashboard render.
type DashboardRender struct {
	Name         string        `placeholder:"NAME" help:"Stored dashboard to draw; stepback dashboard list lists them. Default: the retry dashboard of the data directory's runs or, of an endpoint, CSV-Processing-Retry-Monitor."`
	StateMachine string        `placeholder:"NAME" help:"State machine whose retries are drawn. Default: the only one with data, or the CSV import."`
	Since        time.Duration `placeholder:"DURATION" help:"How far back to read the data of a stored dashboard. Default: as far as it has data within its own range, or 3h; further if there are none."`
	Output       string        `short:"o" default:"retry.html" placeholder:"FILE" help:"File to write: .html, .svg or .png; or html (- too), svg or png for standard output. Default retry.html."`
	JSON         bool          `name:"json" help:"Print the file's name, the widgets with what each of them shows, and the list of widgets without data as JSON."`
	workspace.Where
}

// Help shows an example.
func (DashboardRender) Help() string {
	return `Examples:
  stepback dashboard render --data .stepback -o retry.html
  stepback dashboard render -o svg > retry.svg
  stepback dashboard render --name Orders -o orders.png
  stepback dashboard render --endpoint https://monitoring.us-east-1.amazonaws.com --name CSV-Processing-Retry-Monitor-dev -o retry.png

Without --name, the dashboard of a data directory is the retry dashboard that would be deployed to CloudWatch, drawn from the
metric data that runs stored there, with the alarms that these data trigger. With --name, any dashboard that was deployed is
drawn with its metric data, alarms and log queries: of the data directory, of an endpoint or of AWS. For these, region and
credentials come from the AWS SDK's usual variables and files; for an endpoint on this machine the credentials are "test". A
widget that cannot be drawn says why in its place.`
}

// Run draws the dashboard.
func (c *DashboardRender) Run(ctx context.Context, std terminal.Streams) error {
	if _, err := drawing(c.Output); err != nil {
		return err
	}
	if c.JSON && toStandardOutput(c.Output) {
		return exit.With(exit.Usage, errors.New("--json and the picture cannot both be written to standard output: name a file with -o"))
	}
	if c.Since != 0 && c.Since < time.Minute {
		return exit.With(exit.Usage,
			fmt.Errorf("--since is %v; use at least 1m, the resolution of CloudWatch's metrics", c.Since))
	}
	if !toStandardOutput(c.Output) { // another process may write the file
		path, err := filepath.Abs(c.Output)
		if err != nil {
			return err
		}
		c.Output = path
	}
	if c.Remote() && c.Name == "" {
		c.Name = dashboards.Name
	}
	if c.Name != "" {
		return c.stored(ctx, std)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// stored draws a stored dashboard.
func (c *DashboardRender) stored(ctx context.Context, std terminal.Streams) error {
	return c.CloudWatch(ctx, func(s *cloudwatch.Source) error {
		w := render.Window{To: time.Now().UTC()}
		w.Now = w.To
		if c.Since != 0 {
			w.From = w.To.Add(-c.Since)
		}
		page, err := cloudwatch.Fetch(ctx, s, c.Name, w)
		if err != nil {
			return err
		}
		return c.write(std, page)
	})
}

// On draws everything counted so far.
func (c *DashboardRender) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	if err := p.KeepMetrics(); err != nil {
		return err
	}
	return c.Alone(ctx, std)
}

// Alone implements workspace.DirectoryVerb.
func (c *DashboardRender) Alone(ctx context.Context, std terminal.Streams) error {
	page, err := c.page(ctx)
	if err != nil {
		return err
	}
	return c.write(std, page)
}

// write draws a page and says which of its widgets have no data or are not drawn.
func (c *DashboardRender) write(std terminal.Streams, page render.Page) error {
	draw, err := drawing(c.Output)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := draw(page, &out); err != nil {
		return err
	}
	if toStandardOutput(c.Output) {
		_, err = std.Out.Write(out.Bytes())
	} else {
		err = os.WriteFile(c.Output, out.Bytes(), 0o644)
	}
	if err != nil {
		return err
	}
	empty := page.Empty()
	switch {
	case c.JSON:
		return terminal.PrintJSON(std.Out, map[string]any{"file": c.Output, "from": page.Window.From, "to": page.Window.To,
			"widgets": page.Ordered(), "alarms": append([]render.Alarm{}, page.Alarms...), "withoutData": append([]string{}, empty...)})
	case !toStandardOutput(c.Output):
		fmt.Fprintln(std.Out, c.Output)
	}
	if len(empty) > 0 {
		fmt.Fprintf(std.Err, "widgets without data:\n  %s\n", strings.Join(empty, "\n  "))
	}
	for _, w := range page.Ordered() {
		for _, why := range append(slices.DeleteFunc([]string{w.Problem}, func(s string) bool { return s == "" }), w.Notes...) {
			fmt.Fprintf(std.Err, "not drawn: %s: %s\n", cmp.Or(w.Title, w.Type+" widget"), why)
		}
	}
	return nil
}

// toStandardOutput reports whether -o names a format instead of a file: the picture is then written to standard
// output.
func toStandardOutput(output string) bool {
	return slices.Contains([]string{"-", "html", "svg", "png"}, output)
}

// drawing returns the renderer for the extension of file, or for the format if file names a format.
func drawing(file string) (func(render.Page, io.Writer) error, error) {
	form := strings.ToLower(filepath.Ext(file))
	if toStandardOutput(file) {
		form = "." + strings.ReplaceAll(file, "-", "html")
	}
	switch form {
	case ".html", ".htm":
		return render.Page.HTML, nil
	case ".svg":
		return render.Page.SVG, nil
	case ".png":
		return render.Page.PNG, nil
	default:
		return nil, exit.With(exit.Usage, fmt.Errorf("cannot write %q: name a file that ends in .html, .svg or .png, or - for standard output", file))
	}
}

// page returns the retry dashboard with the metric data of a data directory.
func (c *DashboardRender) page(ctx context.Context) (render.Page, error) {
	if _, err := os.Stat(c.Data); err != nil {
		return render.Page{}, exit.With(exit.Usage,
			fmt.Errorf("no runs to draw: %w; name their data directory with --data", err))
	}
	points, err := metricsfile.Read(c.Data)
	if err != nil {
		return render.Page{}, err
	}
	machine, err := pickMachine(c.StateMachine, points)
	if err != nil {
		return render.Page{}, exit.With(exit.Usage, err)
	}
	return dashboardPage(ctx, machine, points)
}

// pickMachine returns the state machine to draw: the named one, or else the import's, or else the only one that has
// data.
func pickMachine(named string, points []retrymetrics.Point) (string, error) {
	seen := map[string]bool{}
	for i := range points {
		if machine := points[i].Labels.StateMachine; machine != "" {
			seen[machine] = true
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	switch {
	case named != "" && !seen[named] && len(names) > 0:
		return "", fmt.Errorf("no data for the state machine %s; there are data for %s", named,
			strings.Join(names, ", "))
	case named != "":
		return named, nil
	case len(names) == 1:
		return names[0], nil
	case seen[pipeline.StateMachine], len(names) == 0:
		return pipeline.StateMachine, nil
	default:
		return "", fmt.Errorf("several state machines have data; name one with --state-machine: %s",
			strings.Join(names, ", "))
	}
}

func dashboardPage(ctx context.Context, machine string, points []retrymetrics.Point) (render.Page, error) {
	points = slices.DeleteFunc(slices.Clone(points), func(p retrymetrics.Point) bool {
		return p.Labels.StateMachine != "" && p.Labels.StateMachine != machine
	})
	general := !retrymetrics.OfImport(machine, points)
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: machine, Region: pipeline.Region, General: general})
	if err != nil {
		return render.Page{}, err
	}
	body, err := d.Body()
	if err != nil {
		return render.Page{}, err
	}
	set, err := alarms.New(alarms.Options{StateMachine: machine, General: general})
	if err != nil {
		return render.Page{}, err
	}
	data := render.Points(points)
	page, err := render.Load(ctx, d.Name, body, data, data.Window())
	if err != nil {
		return page, err
	}
	for _, a := range set.Alarms {
		shown, err := outcome(set, a, points)
		if err != nil {
			return page, err
		}
		page.Alarms = append(page.Alarms, shown)
	}
	return page, nil
}

// outcome returns the alarm as the dashboard shows it: whether it fired, and when.
func outcome(set alarms.Set, a alarms.Alarm, points []retrymetrics.Point) (render.Alarm, error) {
	changes, err := set.Evaluate(a, points)
	shown := render.Alarm{Name: set.FullName(a.Name), State: string(alarms.OK), Text: a.Meaning}
	if err != nil || len(changes) == 0 {
		return shown, err
	}
	for _, ch := range changes {
		if ch.State == alarms.Alarming && !shown.Tripped {
			shown.Tripped, shown.State = true, "ALARM since "+ch.Since.Format(timeLayout(points))
			shown.Text = a.Meaning + " First: " + a.First
		}
	}
	return shown, nil
}

// timeLayout returns the format of times, which includes the day if the data span more than one, and seconds if they
// span less than ten minutes.
func timeLayout(points []retrymetrics.Point) string {
	if len(points) == 0 {
		return "15:04"
	}
	first, last := points[0].Start, points[0].Start
	for i := range points {
		if at := points[i].Start; at.Before(first) {
			first = at
		} else if at.After(last) {
			last = at
		}
	}
	switch {
	case first.Truncate(24*time.Hour) != last.Truncate(24*time.Hour):
		return "2 Jan 15:04"
	case last.Sub(first) < 10*time.Minute:
		return "15:04:05"
	}
	return "15:04"
}
