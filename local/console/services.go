package console

import (
	"time"
)

// ServicesView lists the services on the same address.
type ServicesView struct {
	Services []Service `json:"services"`
	Region   string    `json:"region"`
	Version  string    `json:"version"`
}

func (c *Console) listServices(*request) (*answer, error) {
	return &answer{Title: "Services", Template: "services", Still: true,
		View: &ServicesView{c.services(), c.cfg.Scope.Region, c.cfg.Version}}, nil
}

// services returns the services on the same address, and whether each has a page.
func (c *Console) services() []Service {
	all := append([]Service{}, c.cfg.Services...)
	for i := range all {
		_, all[i].Peek = peeks[all[i].Model]
	}
	return all
}

// LogsView lists log groups, or the latest lines of one.
type LogsView struct {
	Groups  []LogGroup `json:"groups"`
	Group   string     `json:"group,omitempty"`
	Pattern string     `json:"pattern,omitempty"`
	Since   string     `json:"since,omitempty"`
	Lines   []LogLine  `json:"lines,omitempty"`
	Next    string     `json:"nextToken,omitempty"`
	Now     time.Time  `json:"at"`
}

// LogGroup is a log group.
type LogGroup struct {
	Name  string `json:"logGroupName"`
	Bytes int    `json:"storedBytes"`
}

// LogLine is an event of a log.
type LogLine struct {
	Stream  string `json:"logStreamName"`
	Time    int64  `json:"timestamp"`
	Message string `json:"message"`
}

// At returns when the line was logged.
func (l LogLine) At() time.Time { return time.UnixMilli(l.Time) }

func (c *Console) logs(r *request) (*answer, error) {
	v := &LogsView{Group: r.param("group"), Pattern: r.param("pattern"), Since: r.param("since"), Now: r.now,
		Groups: []LogGroup{}}
	if v.Group == "" {
		var out struct {
			Groups []LogGroup `json:"logGroups"`
		}
		if err := c.cfg.Call(r.Context(), "logs", "DescribeLogGroups", map[string]any{"limit": pageSize}, &out); err != nil {
			return nil, err
		}
		v.Groups = append(v.Groups, out.Groups...)
		return &answer{Title: "Logs", Template: "logs", View: v}, nil
	}
	const lines = 200
	in := map[string]any{"logGroupName": v.Group, "limit": lines}
	if v.Pattern != "" {
		in["filterPattern"] = v.Pattern
	}
	since := v.Since
	if since == "" && r.param("next") == "" {
		since = "1h"
	}
	if d, err := time.ParseDuration(since); err == nil {
		in["startTime"] = time.Now().Add(-d).UnixMilli()
	}
	if next := r.param("next"); next != "" {
		in["nextToken"] = next
	}
	var out struct {
		Events []LogLine `json:"events"`
		Next   string    `json:"nextToken"`
	}
	if err := c.cfg.Call(r.Context(), "logs", "FilterLogEvents", in, &out); err != nil {
		return nil, err
	}
	v.Lines, v.Next = out.Events, out.Next
	const longest = 2000
	for i := range v.Lines {
		v.Lines[i].Message = clip(longest, c.hidden.cause(v.Lines[i].Message))
	}
	return &answer{Title: v.Group, Template: "logs", View: v}, nil
}
