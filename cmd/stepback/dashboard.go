package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stepback/alarms"
	"stepback/dashboards"
	"stepback/dashboards/render"
	"stepback/pipeline"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

type dashboardCmd struct {
	Render dashboardRenderCmd `cmd:"" help:"Draw the retry dashboard of a data directory's runs as HTML or SVG."`
}

type dashboardRenderCmd struct {
	Data   string `type:"existingdir" default:".stepback" placeholder:"DIR" help:"Data directory of the runs. Default .stepback."`
	Output string `short:"o" type:"path" default:"retry.html" placeholder:"FILE" help:"File to write: .html or .svg. Default retry.html."`
}

// Help shows an example.
func (dashboardRenderCmd) Help() string {
	return `Example:
  stepback dashboard render --data .stepback -o retry.html

The dashboard is the one that CloudWatch gets, drawn from the metric data that runs leave in the data directory, with the alarms
that these data trip. For a PNG, print the page from a browser: stepback draws no bitmaps.`
}

// Run draws the dashboard.
func (c *dashboardRenderCmd) Run(std streams) error {
	points, err := metricsfile.Read(c.Data)
	if err != nil {
		return err
	}
	page, err := dashboardPage(points)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	switch ext := strings.ToLower(filepath.Ext(c.Output)); ext {
	case ".html", ".htm":
		err = page.HTML(&out)
	case ".svg":
		err = page.SVG(&out)
	case ".png":
		err = page.PNG(&out)
	default:
		return &exitError{exitUsage, fmt.Errorf("cannot write %q: name a file that ends in .html or .svg", c.Output)}
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.Output, out.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%s  (%d metric data)\n", c.Output, len(points))
	return nil
}

func dashboardPage(points []retrymetrics.Point) (render.Page, error) {
	d, err := dashboards.Monitor(dashboards.Options{StateMachine: pipeline.StateMachine, Region: pipeline.Region})
	if err != nil {
		return render.Page{}, err
	}
	body, err := d.Body()
	if err != nil {
		return render.Page{}, err
	}
	set, err := alarms.New(alarms.Options{StateMachine: pipeline.StateMachine})
	if err != nil {
		return render.Page{}, err
	}
	page := render.Page{Name: d.Name, Body: body, Data: render.Points(points)}
	for _, a := range set.Alarms {
		shown, err := outcome(set, a, points)
		if err != nil {
			return page, err
		}
		page.Alarms = append(page.Alarms, shown)
	}
	return page, nil
}

// outcome says whether and when an alarm tripped.
func outcome(set alarms.Set, a alarms.Alarm, points []retrymetrics.Point) (render.Alarm, error) {
	changes, err := set.Evaluate(a, points)
	shown := render.Alarm{Name: set.FullName(a.Name), State: string(alarms.OK), Text: a.Meaning}
	if err != nil || len(changes) == 0 {
		return shown, err
	}
	for _, ch := range changes {
		if ch.State == alarms.Alarming && !shown.Tripped {
			shown.Tripped, shown.State = true, "ALARM at "+ch.At.Format("15:04")
			shown.Text = a.Meaning + " First: " + a.First
		}
	}
	return shown, nil
}
