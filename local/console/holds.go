package console

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"stepback/engine"
)

// Pacing holds retries and limits calls, and keeps both over a restart.
type Pacing interface {
	// Pacing returns the holds, with the number of their retries that are due, and the limits.
	Pacing() ([]engine.Held, []engine.LimitedCalls, error)
	// Hold keeps the retries that h selects from beginning until Release.
	Hold(h engine.Hold) error
	// Release ends a hold. It returns the number of retries that were due, or [engine.ErrNoHold].
	Release(h engine.Hold) (due int, err error)
	// LimitCalls sets a limit of calls; a rate of 0 removes it.
	LimitCalls(l engine.CallLimit) error
}

var errNoPacing = errors.New("retries cannot be held and calls cannot be limited here")

func holdOf(f url.Values) engine.Hold {
	return engine.Hold{Machine: strings.TrimSpace(f.Get("machine")), Error: strings.TrimSpace(f.Get("error")),
		State: strings.TrimSpace(f.Get("state"))}
}

func (c *Console) hold(_ context.Context, _ Engine, f url.Values) (said, to string, err error) {
	h := holdOf(f)
	switch {
	case c.cfg.Pacing == nil:
		return "", "", errNoPacing
	case h == engine.Hold{} && f.Get("all") == "":
		return "", "", &badForm{"name the machine, the error or the state whose retries to hold, or tick all retries"}
	case h != engine.Hold{} && f.Get("all") != "":
		return "", "", &badForm{"tick all retries, or name a machine, an error or a state"}
	}
	return "Held. Retries that match do not begin until you release them.", "", c.cfg.Pacing.Hold(h)
}

func (c *Console) release(_ context.Context, _ Engine, f url.Values) (said, to string, err error) {
	if c.cfg.Pacing == nil {
		return "", "", errNoPacing
	}
	due, err := c.cfg.Pacing.Release(holdOf(f))
	return fmt.Sprintf("Released, with %d due. Each retry waits for the rest of its delay.", due), "", err
}

func (c *Console) limitCalls(_ context.Context, _ Engine, f url.Values) (said, to string, err error) {
	if c.cfg.Pacing == nil {
		return "", "", errNoPacing
	}
	callee, text := strings.TrimSpace(f.Get("callee")), strings.TrimSpace(f.Get("rate"))
	if callee == "" {
		return "", "", &badForm{"name the function or the Resource whose calls to limit"}
	}
	if text == "off" {
		return "Removed the limit of " + callee + ".", "", c.cfg.Pacing.LimitCalls(engine.CallLimit{Callee: callee})
	}
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
		return "", "", &badForm{fmt.Sprintf("the rate %q is not understood: give calls per second, such as 20, or off", text)}
	}
	return fmt.Sprintf("Limited %s to %s calls a second.", callee, strconv.FormatFloat(rate, 'g', -1, 64)), "",
		c.cfg.Pacing.LimitCalls(engine.CallLimit{Callee: callee, PerSecond: rate})
}
