package lab

import (
	"slices"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenarios"
)

// Item is a built-in scenario or policy.
type Item struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Catalogue lists the built-in scenarios and policies.
type Catalogue struct {
	Scenarios []Item `json:"scenarios"`
	Policies  []Item `json:"policies"`
}

// List returns the built-in scenarios and policies.
func List() Catalogue {
	var c Catalogue
	for _, name := range scenarios.Names() {
		if s, err := scenarios.Named(name); err == nil {
			c.Scenarios = append(c.Scenarios, Item{name, s.About})
		}
	}
	for _, name := range policy.Names() {
		if p, err := policy.Named(name); err == nil {
			c.Policies = append(c.Policies, Item{name, p.About})
		}
	}
	return c
}

// File returns the YAML file of a built-in scenario or policy.
func File(name string) ([]byte, error) {
	if slices.Contains(policy.Names(), name) {
		text, err := policy.Text(name)
		return []byte(text), err
	}
	return scenarios.Text(name)
}
