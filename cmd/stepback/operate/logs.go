package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"stepback/aws/client"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/rerun"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
	"stepback/local/services/logs/logstore"
)

// Logs implements the verb logs.
type Logs struct {
	Name   string `arg:"" help:"Name of a function, or of a log group (starting with a slash)."`
	Follow bool   `short:"f" help:"Keep printing new events until Ctrl-C. Needs an endpoint, or a process that serves the data directory."`
	JSON   bool   `name:"json" help:"Print one JSON object per event and line."`
	Lines  int    `short:"n" default:"100" placeholder:"N" help:"Number of lines, the newest; 0 prints all. Default 100."`
	workspace.Where
}

// Help shows examples.
func (Logs) Help() string {
	return `Examples:
  stepback logs greet
  stepback logs greet -n 0 | grep REPORT
  stepback logs greet --follow
  stepback logs /aws/vendedlogs/states/orders --aws --follow
  stepback logs /aws/vendedlogs/states/orders

The function greet logs to the log group /aws/lambda/greet. A data directory keeps the newest 64 MB of each log group.`
}

// Run prints the end of the log.
func (c *Logs) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Remote() {
		return c.fromAPI(ctx, std)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On prints the end of the log in a directory that a running process has open.
func (c *Logs) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	return c.print(ctx, std, p.Logs)
}

// Alone prints the end of the log in a directory that no process has open.
func (c *Logs) Alone(ctx context.Context, std terminal.Streams) (err error) {
	if c.Follow {
		return fmt.Errorf("no process serves %s, so nothing is logged there: start stepback serve --data %s",
			terminal.ShortPath(c.Data), terminal.Quoted(terminal.ShortPath(c.Data)))
	}
	store, err := logstore.Open(filepath.Join(c.Data, workspace.LogGroups), logstore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return c.print(ctx, std, store)
}

// functionGroups is the prefix of the names of functions' log groups.
const functionGroups = "/aws/lambda/"

// print prints the events of a log group. If executions log to the group, it also prints the times of the events,
// as aws logs tail does. It leaves out streams that only record that the group can be written to.
func (c *Logs) print(ctx context.Context, std terminal.Streams, store *logstore.Store) error {
	group := c.group()
	scope := c.Scope()
	said := func(stream string) bool { return !strings.HasPrefix(stream, "log_stream_created_by_aws") }
	events, err := store.Read(scope, group, said, 0, math.MaxInt64)
	if errors.Is(err, logstore.ErrNoGroup) {
		return c.unknown(c.ofFunction(), store.Groups(scope, func(string) bool { return true }))
	}
	if err != nil {
		return err
	}
	if c.Lines > 0 {
		events = events[max(0, len(events)-c.Lines):]
	}
	seen := &newLogs{}
	for _, e := range events {
		seen.take(e.Time, e.Stream, e.Number)
		if err := c.line(std, e.Time, e.Stream, e.Message); err != nil {
			return err
		}
	}
	for c.Follow {
		if err := pause(ctx, rerun.LookEvery); err != nil {
			return nil //nolint:nilerr // Ctrl-C is how following ends
		}
		if events, err = store.Read(scope, group, said, seen.latest, math.MaxInt64); err != nil {
			return err
		}
		for _, e := range events {
			if !seen.take(e.Time, e.Stream, e.Number) {
				continue
			}
			if err := c.line(std, e.Time, e.Stream, e.Message); err != nil {
				return err
			}
		}
	}
	return nil
}

// group returns the log group that the name stands for.
func (c *Logs) group() string {
	if c.ofFunction() {
		return functionGroups + c.Name
	}
	return c.Name
}

func (c *Logs) ofFunction() bool { return !strings.HasPrefix(c.Name, "/") }

// line prints an event.
func (c *Logs) line(std terminal.Streams, at int64, stream, message string) error {
	when := time.UnixMilli(at).UTC()
	if c.JSON {
		lines := json.NewEncoder(std.Out)
		lines.SetEscapeHTML(false)
		return lines.Encode(logLine{when, stream, message})
	}
	text := strings.TrimSuffix(message, "\n")
	if !c.ofFunction() {
		text = when.Format("2006-01-02T15:04:05.000Z") + " " + text
	}
	_, err := fmt.Fprintln(std.Out, text)
	return err
}

// newLogs distinguishes new events from those that have been printed. It remembers the latest time of a printed
// event, and which events of that time have been printed.
type newLogs struct {
	latest int64
	of     map[string]bool
}

// take reports whether an event is new, and records it. Events with the same time are distinguished by stream and
// number.
func (n *newLogs) take(at int64, stream string, number any) bool {
	if at < n.latest {
		return false
	}
	if at > n.latest || n.of == nil {
		n.latest, n.of = at, map[string]bool{}
	}
	key := fmt.Sprint(stream, " ", number)
	if n.of[key] {
		return false
	}
	n.of[key] = true
	return true
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// awsLogEvent is an event in a response of FilterLogEvents.
type awsLogEvent struct {
	ID      string `json:"eventId"`
	Time    int64  `json:"timestamp"`
	Stream  string `json:"logStreamName"`
	Message string `json:"message"`
}

// fromAPI prints the log of an endpoint.
func (c *Logs) fromAPI(ctx context.Context, std terminal.Streams) error {
	cfg, every, err := c.Config(ctx)
	if err != nil {
		return err
	}
	logs, err := client.NewNamed(ctx, *cfg, "cloudwatchlogs")
	if err != nil {
		return err
	}
	seen := &newLogs{}
	var kept []awsLogEvent
	if err := c.filtered(ctx, logs, 0, func(e awsLogEvent) error {
		if kept = append(kept, e); c.Lines > 0 && len(kept) > c.Lines {
			kept = kept[1:]
		}
		return nil
	}); err != nil {
		return err
	}
	for _, e := range kept {
		seen.take(e.Time, e.Stream, e.ID)
		if err := c.line(std, e.Time, e.Stream, e.Message); err != nil {
			return err
		}
	}
	for c.Follow {
		if err := pause(ctx, max(every, rerun.LookEvery)); err != nil {
			return nil //nolint:nilerr // Ctrl-C is how following ends
		}
		err := c.filtered(ctx, logs, seen.latest, func(e awsLogEvent) error {
			if !seen.take(e.Time, e.Stream, e.ID) {
				return nil
			}
			return c.line(std, e.Time, e.Stream, e.Message)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// filtered calls take for the events of the log group since a time in milliseconds.
func (c *Logs) filtered(ctx context.Context, logs *client.Named, since int64, take func(awsLogEvent) error) error {
	in := map[string]any{"logGroupName": c.group(), "startTime": since}
	for {
		var out struct {
			Events    []awsLogEvent `json:"events"`
			NextToken string        `json:"nextToken"`
		}
		if err := logs.Call(ctx, "FilterLogEvents", in, &out); err != nil {
			return executions.Said(err)
		}
		for _, e := range out.Events {
			if err := take(e); err != nil {
				return err
			}
		}
		if out.NextToken == "" {
			return nil
		}
		in["nextToken"] = out.NextToken
	}
}

// logLine is the JSON form of a log event.
type logLine struct {
	Time    time.Time `json:"timestamp"`
	Stream  string    `json:"stream"`
	Message string    `json:"message"`
}

// unknown returns the error for a name that does not exist. It lists the existing functions or log groups.
func (c *Logs) unknown(function bool, groups []logstore.Group) error {
	var names []string
	for i := range groups {
		if name, ok := strings.CutPrefix(groups[i].Name, functionGroups); ok || !function {
			if !function {
				name = groups[i].Name
			}
			names = append(names, name)
		}
	}
	kind, had := "log group", "there are no log groups"
	if function {
		kind, had = "log of a function", "no function has logged yet"
	}
	if len(names) == 0 {
		return fmt.Errorf("%s in %s for %s and %s; name another directory with --data", had, c.Data, c.Account,
			c.Region)
	}
	return fmt.Errorf("there is no %s %s in %s; there are %s", kind, c.Name, c.Data, strings.Join(names, ", "))
}
