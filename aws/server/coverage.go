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
	// Works counts the operations that work completely. Partly counts those that lack some of AWS's behaviour.
	// Absent counts those that are not implemented.
	Works  int `json:"works"`
	Partly int `json:"partly"`
	Absent int `json:"absent"`
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
}

// State is the state of an operation's implementation.
type State string

// The states.
const (
	Works  State = "works"
	Partly State = "partly"
	Absent State = "not there"
)

// Coverage reports which operations of the model are implemented.
func (s *Service) Coverage() Coverage {
	return CoverageOf(s.model.Name, s.model.ID, s.model.Operations(), s.Serves, s.cfg.Partly)
}

// CoverageOf returns the coverage of a service. operations are the names of its model's operations. served reports
// whether an operation is implemented. partly describes what partly implemented operations lack.
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
