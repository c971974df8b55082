package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local"
	"stepback/services/logs/logstore"
)

type logsCmd struct {
	Name    string `arg:"" help:"Name of a function, or of a log group, which begins with a slash."`
	Data    string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	Account string `default:"000000000000" help:"Account of the function or log group."`
	Region  string `default:"us-east-1" help:"Region of the function or log group."`
	JSON    bool   `name:"json" help:"Print one event a line as JSON."`
	Lines   int    `short:"n" default:"100" placeholder:"N" help:"How many lines, the last ones; 0 prints all that is kept. Default 100."`
}

// Help shows examples.
func (logsCmd) Help() string {
	return `Examples:
  stepback logs greet
  stepback logs greet -n 0 | grep REPORT
  stepback logs /aws/vendedlogs/states/orders

The log of the function greet is the log group /aws/lambda/greet. Of a log group at most 64 MB are kept, the newest.`
}

// Run prints the end of the log.
func (c *logsCmd) Run(ctx context.Context, std streams) error {
	return onDirectory(ctx, std, c.Data, c)
}

// on prints the end of the log that a process has open.
func (c *logsCmd) on(_ context.Context, std streams, p *local.Platform) error {
	return c.print(std, p.Logs)
}

// alone prints the end of the log of a directory that nobody has open.
func (c *logsCmd) alone(_ context.Context, std streams) (err error) {
	store, err := logstore.Open(filepath.Join(c.Data, logGroups), logstore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return c.print(std, store)
}

// functionGroups begins the names of the log groups of functions.
const functionGroups = "/aws/lambda/"

// print prints the events of a log group, of a group that executions log to with their times, as aws logs tail does.
// Streams that say nothing but that the group can be written to are left out.
func (c *logsCmd) print(std streams, store *logstore.Store) error {
	group, ofFunction := c.Name, !strings.HasPrefix(c.Name, "/")
	if ofFunction {
		group = functionGroups + c.Name
	}
	scope := aws.Scope{Account: c.Account, Region: c.Region}
	said := func(stream string) bool { return !strings.HasPrefix(stream, "log_stream_created_by_aws") }
	events, err := store.Read(scope, group, said, 0, math.MaxInt64)
	if errors.Is(err, logstore.ErrNoGroup) {
		return c.unknown(ofFunction, store.Groups(scope, func(string) bool { return true }))
	}
	if err != nil {
		return err
	}
	if c.Lines > 0 {
		events = events[max(0, len(events)-c.Lines):]
	}
	for _, e := range events {
		if c.JSON {
			if err := json.NewEncoder(std.out).Encode(logLine{time.UnixMilli(e.Time).UTC(), e.Stream, e.Message}); err != nil {
				return err
			}
			continue
		}
		line := strings.TrimSuffix(e.Message, "\n")
		if !ofFunction {
			line = time.UnixMilli(e.Time).UTC().Format("2006-01-02T15:04:05.000Z") + " " + line
		}
		if _, err := fmt.Fprintln(std.out, line); err != nil {
			return err
		}
	}
	return nil
}

// logLine is an event of a log as scripts read it.
type logLine struct {
	Time    time.Time `json:"timestamp"`
	Stream  string    `json:"stream"`
	Message string    `json:"message"`
}

// unknown names the functions, or the log groups, that there are.
func (c *logsCmd) unknown(function bool, groups []logstore.Group) error {
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
		kind, had = "log of a function", "no function has logged anything"
	}
	if len(names) == 0 {
		return fmt.Errorf("%s in %s for %s and %s; name another directory with --data", had, c.Data, c.Account,
			c.Region)
	}
	return fmt.Errorf("there is no %s %s in %s; there are %s", kind, c.Name, c.Data, strings.Join(names, ", "))
}
