package engine

import (
	"strings"
	"sync"

	"stepback/engine/interpreter"
)

// assumed are the integrations of other accounts, for tasks with credentials.
type assumed struct {
	mu        sync.Mutex
	byAccount map[string]map[string]Integration
}

// integrations are what a task can call: those of the account of the role in its credentials, if it has any.
func (e *Engine) integrations(call *interpreter.TaskCall) map[string]Integration {
	account := accountOf(call.RoleARN)
	if account == "" || account == e.cfg.Account || e.cfg.Assume == nil {
		return e.cfg.Integrations
	}
	a := &e.assumed
	a.mu.Lock()
	defer a.mu.Unlock()
	made := a.byAccount[account]
	if made == nil {
		made = e.cfg.Assume(account)
		if a.byAccount == nil {
			a.byAccount = map[string]map[string]Integration{}
		}
		a.byAccount[account] = made
	}
	return made
}

// accountOf is the account in arn:aws:iam::ACCOUNT:role/NAME; empty when the text is no such ARN.
func accountOf(role string) string {
	const fields = 6
	parts := strings.SplitN(role, ":", fields)
	if len(parts) < fields || parts[0] != "arn" {
		return ""
	}
	return parts[fields-2]
}
