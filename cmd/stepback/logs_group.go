package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"stepback/aws"
	"stepback/services/logs/logstore"
)

// printGroup prints the end of a log group of serve, an event a line, as aws logs tail does. Streams that say nothing
// but that the group can be written to are left out.
func (c *logsCmd) printGroup(std streams) (err error) {
	store, err := logstore.Open(filepath.Join(c.Data, logGroups), logstore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	scope := aws.Scope{Account: c.Account, Region: c.Region}
	said := func(stream string) bool { return !strings.HasPrefix(stream, "log_stream_created_by_aws") }
	events, err := store.Read(scope, c.Name, said, 0, math.MaxInt64)
	if errors.Is(err, logstore.ErrNoGroup) {
		return c.unknownGroup(store.Groups(scope, func(string) bool { return true }))
	}
	if err != nil {
		return err
	}
	if c.Lines > 0 {
		events = events[max(0, len(events)-c.Lines):]
	}
	for _, e := range events {
		at := time.UnixMilli(e.Time).UTC().Format("2006-01-02T15:04:05.000Z")
		if _, err := fmt.Fprintln(std.out, at, strings.TrimSuffix(e.Message, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// unknownGroup names the log groups that there are.
func (c *logsCmd) unknownGroup(groups []logstore.Group) error {
	if len(groups) == 0 {
		return fmt.Errorf("there are no log groups in %s for %s and %s; name another directory with --data", c.Data,
			c.Account, c.Region)
	}
	names := make([]string, len(groups))
	for i := range groups {
		names[i] = groups[i].Name
	}
	return fmt.Errorf("there is no log group %s in %s; there are %s", c.Name, c.Data, strings.Join(names, ", "))
}
