package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
)

// Alarms implements the verb alarms.
type Alarms struct {
	Name   string `arg:"" optional:"" help:"Name of an alarm: show all about it, and its history."`
	State  string `enum:",OK,ALARM,INSUFFICIENT_DATA" default:"" placeholder:"STATE" help:"Only alarms in this state: OK, ALARM or INSUFFICIENT_DATA."`
	Prefix string `placeholder:"TEXT" help:"Only alarms whose names begin with this text."`
	JSON   bool   `name:"json" help:"Print them as JSON."`
	workspace.Where
}

// Help shows examples.
func (Alarms) Help() string {
	return `Examples:
  stepback alarms
  stepback alarms --state ALARM --json
  stepback alarms csv-import-dev-page --aws

Lists the alarms that were deployed, metric and composite, those in ALARM first. The exit status is 3 if any of the listed
alarms is in ALARM.`
}

// alarmEvents is the number of history items that are shown of an alarm.
const alarmEvents = 50

// Run lists alarms, or describes one.
func (c *Alarms) Run(ctx context.Context, std terminal.Streams) error {
	return c.CloudWatch(ctx, func(s *cloudwatch.Source) error {
		if c.Name != "" {
			return c.one(ctx, std, s)
		}
		all, err := cloudwatch.AllAlarms(ctx, s.Client, c.Prefix, "")
		if err != nil {
			return err
		}
		shown := []cloudwatch.Alarm{}
		firing := 0
		for _, a := range all {
			if c.State == "" || a.State == c.State {
				shown = append(shown, a)
			}
		}
		t := terminal.NewTable("state", "since", "alarm", "watches")
		for _, a := range shown {
			if a.State == render.Alarming {
				firing++
			}
			t.Add(a.State, a.Since.Local().Format(time.DateTime), a.Name, oneLine(a.Watches))
		}
		switch {
		case c.JSON:
			err = terminal.PrintJSON(std.Out, shown)
		case len(shown) == 0:
			_, err = fmt.Fprintln(std.Err, "no alarms")
		default:
			t.Print(std.Out, "")
		}
		if err == nil && firing > 0 {
			return exit.With(exit.Data, nil)
		}
		return err
	})
}

// alarmReport is an alarm with its history and, of a composite alarm, its children.
type alarmReport struct {
	*cloudwatch.Alarm
	Children []cloudwatch.Alarm `json:"children,omitempty"`
	History  []cloudwatch.Event `json:"history"`
}

func (c *Alarms) one(ctx context.Context, std terminal.Streams, s *cloudwatch.Source) error {
	a, err := cloudwatch.OneAlarm(ctx, s.Client, c.Name)
	if err != nil {
		return err
	}
	if a == nil {
		return exit.With(exit.Usage, errors.New("there is no alarm "+c.Name+"; stepback alarms lists them"))
	}
	d := alarmReport{Alarm: a}
	if a.Composite {
		if d.Children, err = cloudwatch.Children(ctx, s.Client, c.Name); err != nil {
			return err
		}
	}
	if d.History, err = cloudwatch.History(ctx, s.Client, c.Name, alarmEvents); err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, d)
	}
	fmt.Fprintf(std.Out, "%s\n  %s since %s\n", a.Name, terminal.ScreenOf(std.Out).Status(a.State), a.Since.Local().Format(time.DateTime))
	for _, line := range [][2]string{{"reason", a.Reason}, {"watches", a.Watches}, {"description", a.Description},
		{"in ALARM", strings.Join(a.AlarmActions, ", ")}, {"in OK", strings.Join(a.OKActions, ", ")},
		{"without data", strings.Join(a.NoDataActions, ", ")}} {
		if line[1] != "" {
			fmt.Fprintf(std.Out, "  %s: %s\n", line[0], oneLine(line[1]))
		}
	}
	if !a.ActionsEnabled {
		fmt.Fprintln(std.Out, "  its actions are disabled")
	}
	if len(d.Children) > 0 {
		fmt.Fprintln(std.Out, "children:")
		t := terminal.NewTable("state", "since", "alarm")
		for _, child := range d.Children {
			t.Add(child.State, child.Since.Local().Format(time.DateTime), child.Name)
		}
		t.Print(std.Out, "  ")
	}
	if len(d.History) > 0 {
		fmt.Fprintln(std.Out, "history:")
		t := terminal.NewTable("at", "type", "summary")
		for _, e := range d.History {
			t.Add(e.At.Local().Format(time.DateTime), e.Kind, oneLine(e.Summary))
		}
		t.Print(std.Out, "  ")
	}
	return nil
}
