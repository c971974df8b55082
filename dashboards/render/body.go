// Package render draws a CloudWatch dashboard body with metric data as one self-contained page, in HTML, SVG or
// PNG, so that a run's dashboard can be viewed without CloudWatch. It evaluates the features that this project's
// dashboards use: series, metric math and searches by state machine. It fetches nothing and runs no scripts.
package render

import (
	"encoding/json"
	"fmt"
)

// body is a dashboard body. It holds only the members that are drawn.
type body struct {
	Widgets []widget `json:"widgets"`
}

type widget struct {
	Type       string     `json:"type"`
	X          int        `json:"x"`
	Y          int        `json:"y"`
	Width      int        `json:"width"`
	Height     int        `json:"height"`
	Properties properties `json:"properties"`
}

type properties struct {
	Title       string              `json:"title"`
	Markdown    string              `json:"markdown"`
	Alarms      []string            `json:"alarms"`
	View        string              `json:"view"`
	Stacked     bool                `json:"stacked"`
	Stat        string              `json:"stat"`
	Metrics     [][]json.RawMessage `json:"metrics"`
	YAxis       axes                `json:"yAxis"`
	Annotations struct {
		Horizontal []mark `json:"horizontal"`
	} `json:"annotations"`
}

type axes struct {
	Left axis `json:"left"`
}

type axis struct {
	Label string   `json:"label"`
	Min   *float64 `json:"min"`
	Max   *float64 `json:"max"`
}

// mark is a horizontal annotation.
type mark struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Color string  `json:"color"`
}

// options are the last element of a metric row.
type options struct {
	Expression string `json:"expression"`
	Label      string `json:"label"`
	ID         string `json:"id"`
	Stat       string `json:"stat"`
	Color      string `json:"color"`
	Visible    *bool  `json:"visible"`
}

func parse(text []byte) (body, error) {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("dashboard body: %w", err)
	}
	for i, w := range b.Widgets {
		if w.Width < 1 || w.Height < 1 || w.X < 0 || w.Y < 0 || w.X+w.Width > 24 || w.Height > 1000 {
			return b, fmt.Errorf("dashboard body: widget %d is outside the grid", i+1)
		}
	}
	return b, nil
}

// AlarmARNs returns the ARNs of the alarms in a dashboard body, in order.
func AlarmARNs(text []byte) ([]string, error) {
	b, err := parse(text)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, w := range b.Widgets {
		all = append(all, w.Properties.Alarms...)
	}
	return all, nil
}
