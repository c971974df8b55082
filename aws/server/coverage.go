package server

import (
	"fmt"
	"maps"
	"slices"
)

// Coverage lists the operations of its model that a service implements. It is computed from the registered
// operations.
type Coverage struct {
	// Model is the name of the API model, such as cloudwatchlogs. Service is its display name, such as "CloudWatch
	// Logs".
	Model   string `json:"model"`
	Service string `json:"service"`
	// Supported counts the operations that work completely. Partial counts those that lack some of AWS's behaviour.
	// Unsupported counts those that are not implemented.
	Supported   int `json:"supported"`
	Partial     int `json:"partial"`
	Unsupported int `json:"unsupported"`
	// Share is the percentage of the model's operations that are implemented, completely or in part.
	Share float64 `json:"share"`
	// Operations lists all operations of the model, sorted by name.
	Operations []OperationCoverage `json:"operations"`
}

// OperationCoverage describes how completely one operation is implemented.
type OperationCoverage struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Missing describes what a partly implemented operation lacks; empty for all other operations.
	Missing string `json:"missing,omitempty"`
	// Refused lists the members that requests must not have, by their paths in the input, sorted.
	Refused []string `json:"refused,omitempty"`
	// Accepted lists the members that requests may have although they have no effect, with the reason.
	Accepted map[string]string `json:"accepted,omitempty"`
	// Stale lists the members that Config.Accepted lists although the operation reads them. A test rules them out.
	Stale []string `json:"-"`
}

// State is the state of an operation's implementation.
type State string

// The states.
const (
	Supported   State = "supported"
	Partial     State = "partial"
	Unsupported State = "not supported"
)

// Coverage reports which operations of the model are implemented.
func (s *Service) Coverage() Coverage {
	c := CoverageOf(s.model.Name, s.model.ID, s.model.Operations(), s.Serves, s.cfg.Partly)
	for i := range c.Operations {
		served := &c.Operations[i]
		if served.State == Unsupported {
			continue
		}
		if o, err := s.operation(served.Name); err == nil {
			served.Refused = o.unread.paths("")
			served.Accepted, served.Stale = s.accepted(o)
		}
	}
	return c
}

// accepted returns the members of an operation's input that Config.Accepted lists, with the reasons. stale lists the
// ones that the operation reads.
func (s *Service) accepted(o *operation) (all map[string]string, stale []string) {
	if o.model.Input == nil {
		return nil, nil
	}
	unread := map[string]bool{}
	for _, path := range s.unread(o, func(string) bool { return false }).paths("") {
		unread[path] = true
	}
	for _, name := range []string{"", o.model.Name} {
		for path, why := range s.cfg.Accepted[name] {
			switch {
			case unread[path]:
				if all == nil {
					all = map[string]string{}
				}
				all[path] = why
			case name != "":
				stale = append(stale, path)
			}
		}
	}
	return all, stale
}

// CoverageOf returns the coverage of a service. operations are the names of its model's operations. served reports
// whether an operation is implemented. partly describes what partly implemented operations lack.
func CoverageOf(model, service string, operations []string, served func(string) bool,
	partly map[string]string) Coverage {
	c := Coverage{Model: model, Service: service}
	for _, name := range slices.Sorted(slices.Values(operations)) {
		o := OperationCoverage{Name: name, State: Supported, Missing: partly[name]}
		switch {
		case !served(name):
			o.State, o.Missing = Unsupported, ""
			c.Unsupported++
		case o.Missing != "":
			o.State = Partial
			c.Partial++
		default:
			c.Supported++
		}
		c.Operations = append(c.Operations, o)
	}
	if len(c.Operations) > 0 {
		c.Share = 100 * float64(c.Supported+c.Partial) / float64(len(c.Operations))
	}
	return c
}

// checkPartly returns an error for a note about an operation that is not implemented, because such a note is out of
// date.
func (c *Config) checkPartly() error {
	for _, name := range slices.Sorted(maps.Keys(c.Partly)) {
		if _, ok := c.Operations[name]; !ok || c.Partly[name] == "" {
			return fmt.Errorf("Config.Partly of %s: %s is not served, or nothing is said of it", c.Model, name)
		}
	}
	return nil
}
