package local

import "stepback/engine"

// consolePacing holds retries and limits calls for the console, in the account and region that it shows.
type consolePacing struct{ p *Platform }

// Pacing implements console.Pacing.
func (c consolePacing) Pacing() ([]engine.Held, []engine.LimitedCalls, error) {
	return c.p.Pacing(c.p.Scope)
}

// Hold implements console.Pacing.
func (c consolePacing) Hold(h engine.Hold) error { return c.p.Hold(c.p.Scope, h) }

// Release implements console.Pacing.
func (c consolePacing) Release(h engine.Hold) (int, error) { return c.p.Release(c.p.Scope, h) }

// LimitCalls implements console.Pacing.
func (c consolePacing) LimitCalls(l engine.CallLimit) error { return c.p.LimitCalls(c.p.Scope, l) }
