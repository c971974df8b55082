package jsonpath

import (
	"errors"
	"fmt"

	"stepback/internal/budgets"
	"stepback/jsonvalue"
)

// maxVisits limits the nodes that one evaluation may visit, filters included. The largest payload of 262,144 bytes
// has fewer than 132,000 nodes, so ordinary recursive descent fits, and so do filters that look up 4,000 items in a
// list of 4,000.
var maxVisits = budgets.PathVisits.Value

// checkEvery is the number of visits after which an evaluation checks for an interruption.
const checkEvery = 4096

// resultCost is the cost of a selected node in visits, because results take memory.
const resultCost = 8

// evaluation is one run of a path, or of a path inside a filter.
type evaluation struct {
	steps *steps
	root  jsonvalue.Value
	found []jsonvalue.Value
	// strict makes a missing member an error everywhere, like Jayway's REQUIRE_PROPERTIES. Existence tests use it.
	strict bool
	// quiet omits message texts, because filters discard them.
	quiet  bool
	budget *budget
}

// budget counts the visits of an evaluation and of its filters together.
type budget struct {
	visits, limit int
	// untilCheck is the number of visits until the next check for an interruption.
	untilCheck  int
	interrupted func() error // may be nil
	stopped     error
	// roots caches the results of paths in filters that start from the root ($). They are the same for every item.
	roots map[*pathOperand]operand
}

func (b *budget) spend(visits int) error {
	b.visits -= visits
	if b.untilCheck -= visits; b.untilCheck < 0 {
		b.untilCheck = checkEvery
		if b.interrupted != nil && b.stopped == nil {
			b.stopped = b.interrupted()
		}
	}
	if b.stopped != nil {
		return b.stopped
	}
	if b.visits < 0 {
		return &EvaluationError{Message: fmt.Sprintf("the path visits more than %d nodes", b.limit)}
	}
	return nil
}

// run evaluates all steps from v. It returns the node, or an array of the nodes if the path is indefinite.
func (e *evaluation) run(v jsonvalue.Value) (jsonvalue.Value, error) {
	if err := e.from(0, v); err != nil {
		return jsonvalue.Value{}, err
	}
	if !e.steps.definite {
		return jsonvalue.OfArray(e.found), nil
	}
	if len(e.found) == 0 {
		return jsonvalue.Value{}, e.absent(func() string { return "No results for path: " + e.steps.text() })
	}
	return e.found[len(e.found)-1], nil
}

// from evaluates the steps from position i on. After the last step, v is a result.
func (e *evaluation) from(i int, v jsonvalue.Value) error {
	if i == len(e.steps.list) {
		return e.result(v)
	}
	if err := e.budget.spend(1); err != nil {
		return err
	}
	return e.steps.list[i].apply(e, i, v)
}

// result adds a node to the path's results.
func (e *evaluation) result(v jsonvalue.Value) error {
	e.found = append(e.found, v)
	return e.budget.spend(resultCost)
}

func (e *evaluation) leaf(i int) bool { return i == len(e.steps.list)-1 }

// exact reports whether all steps before i are definite. A mismatch at i is then an error instead of an empty
// result.
func (e *evaluation) exact(i int) bool { return i <= e.steps.exact }

func (e *evaluation) absent(message func() string) error {
	if e.quiet {
		return errAbsent
	}
	return &NotFoundError{Message: message()}
}

// isAbsent reports whether the error means that a path selected nothing.
func isAbsent(err error) bool {
	if errors.Is(err, errAbsent) {
		return true
	}
	_, ok := errors.AsType[*NotFoundError](err)
	return ok
}
