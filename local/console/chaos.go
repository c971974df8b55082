package console

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Faults injects faults into the services.
type Faults interface {
	// List returns the active faults.
	List() []Fault
	// Add adds a fault, written SERVICE:ACTION:ERROR:RATE or SERVICE:ACTION:latency:TIME. It ends after last; 0 means
	// not before it is lifted. Add returns an error if the fault is invalid.
	Add(fault string, seed uint64, last time.Duration) error
	// Lift removes a fault by its number.
	Lift(id int) error
}

// Fault is an active fault.
type Fault struct {
	ID    int    `json:"id"`
	Fault string `json:"fault"`
	Seed  uint64 `json:"seed"`
	// Until is when the fault ends by itself; nil means that it stays until it is lifted.
	Until *time.Time `json:"until,omitempty"`
	// Requests is the number of requests that the fault applied to, Injected the number of them that it hit.
	Requests int64 `json:"requests"`
	Injected int64 `json:"injected"`
}

// ChaosView lists the active faults.
type ChaosView struct {
	Faults []Fault `json:"faults"`
	// Off is true if no faults can be added here.
	Off      bool   `json:"off,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
	Token    string `json:"-"`
}

func (c *Console) chaos(*request) (*answer, error) {
	v := &ChaosView{Faults: []Fault{}, Off: c.cfg.Faults == nil, ReadOnly: c.cfg.ReadOnly, Token: c.token}
	if !v.Off {
		v.Faults = append(v.Faults, c.cfg.Faults.List()...)
	}
	return &answer{Title: "Fault injection", Template: "chaos", View: v}, nil
}

var errNoFaults = errors.New("faults cannot be added here")

func (c *Console) addFault(_ context.Context, _ Engine, f url.Values) (said, to string, err error) {
	if c.cfg.Faults == nil {
		return "", "", errNoFaults
	}
	var last time.Duration
	if text := strings.TrimSpace(f.Get("for")); text != "" {
		if last, err = time.ParseDuration(text); err != nil || last < 0 {
			return "", "", &badForm{fmt.Sprintf("%q is not a duration; write 30s, 5m or 1h, or leave it empty", text)}
		}
	}
	seed := uint64(1)
	if text := strings.TrimSpace(f.Get("seed")); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return "", "", &badForm{"the seed must be a whole number, 0 or more"}
		}
	}
	fault := strings.TrimSpace(f.Get("fault"))
	if err := c.cfg.Faults.Add(fault, seed, last); err != nil {
		return "", "", err
	}
	return "Added: " + fault + ".", "", nil
}

func (c *Console) liftFault(_ context.Context, _ Engine, f url.Values) (said, to string, err error) {
	id, err := strconv.Atoi(f.Get("id"))
	switch {
	case c.cfg.Faults == nil:
		return "", "", errNoFaults
	case err != nil:
		return "", "", &badForm{"the form names no fault"}
	}
	return "Lifted.", "", c.cfg.Faults.Lift(id)
}
