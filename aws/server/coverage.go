package server

import (
	"fmt"
	"maps"
	"slices"
)

// Coverage is which operations of its model a service serves. It is computed from what the service has registered.
type Coverage struct {
	// Model is the name of the API model, such as cloudwatchlogs; Service is its name for people, such as
	// "CloudWatch Logs".
	Model   string `json:"model"`
	Service string `json:"service"`
	// Works counts the operations that work, Partly those that do not do all that AWS's do, Absent those that are not
	// there.
	Works  int `json:"works"`
	Partly int `json:"partly"`
	Absent int `json:"absent"`
	// Share is how many of the model's operations are served, in percent, whole or partly.
	Share float64 `json:"share"`
	// Operations are all of the model's, sorted by name.
	Operations []OperationCoverage `json:"operations"`
}

// OperationCoverage is how far one operation is served.
type OperationCoverage struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Missing says what a partly served operation does not do; empty for others.
	Missing string `json:"missing,omitempty"`
}

// State is how far an operation is served.
type State string

// The states.
const (
	Works  State = "works"
	Partly State = "partly"
	Absent State = "not there"
)

// Coverage says which operations of the model are served.
func (s *Service) Coverage() Coverage {
	return CoverageOf(s.model.Name, s.model.ID, s.model.Operations(), s.Serves, s.cfg.Partly)
}

// CoverageOf makes the coverage of a service from the names of its model's operations, from what tells which are
// served, and from what is missing of those that are served in part.
func CoverageOf(model, service string, operations []string, served func(string) bool,
	partly map[string]string) Coverage {
	c := Coverage{Model: model, Service: service}
	for _, name := range slices.Sorted(slices.Values(operations)) {
		o := OperationCoverage{Name: name, State: Works, Missing: partly[name]}
		switch {
		case !served(name):
			o.State, o.Missing = Absent, ""
			c.Absent++
		case o.Missing != "":
			o.State = Partly
			c.Partly++
		default:
			c.Works++
		}
		c.Operations = append(c.Operations, o)
	}
	if len(c.Operations) > 0 {
		c.Share = 100 * float64(c.Works+c.Partly) / float64(len(c.Operations))
	}
	return c
}

// checkPartly refuses notes about operations that are not served: they would be out of date.
func (c *Config) checkPartly() error {
	for _, name := range slices.Sorted(maps.Keys(c.Partly)) {
		if _, ok := c.Operations[name]; !ok || c.Partly[name] == "" {
			return fmt.Errorf("Config.Partly of %s: %s is not served, or nothing is said of it", c.Model, name)
		}
	}
	return nil
}
