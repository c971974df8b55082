package console

import (
	"strings"

	"stepback/engine/journal"
)

// ExecutionsView lists executions: of all state machines, or of the machine, version, alias or Map Run whose ARN is
// the parameter "of".
type ExecutionsView struct {
	Of         string         `json:"of,omitempty"`
	Filter     Filter         `json:"filter"`
	Executions []ExecutionRow `json:"executions"`
	Next       string         `json:"nextToken,omitempty"`
	First      bool           `json:"-"`
}

// mostListed is the most executions that an API client can request at once.
const mostListed = 1000

func (c *Console) executions(r *request) (*answer, error) {
	v := &ExecutionsView{Of: r.param("of"), Filter: filterOf(r.param),
		First: r.param("after") == ""}
	if scope := c.cfg.Scope.ARN("states", ""); v.Of != "" && journal.ScopeOf(v.Of) != scope {
		return nil, &notFound{"This console shows " + strings.TrimSuffix(scope, ":") + "; " + v.Of + " is not part of that."}
	}
	q, err := v.Filter.query(v.Of, r.now)
	if err != nil {
		return nil, err
	}
	size := int(min(mostListed, max(1, r.number("size", pageSize))))
	if v.Executions, v.Next, err = r.rows(q, size); err != nil {
		return nil, err
	}
	return &answer{Title: "Executions", Template: "executions", View: v}, nil
}
