package plan

import (
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/asl/template"
	"stepback/jsonvalue"
	"stepback/retry"
)

func selector(field string, p asl.Path) (Selector, error) {
	if p.Null {
		return Selector{Null: true}, nil
	}
	if !p.Present || p.Text == "$" {
		return Selector{}, nil
	}
	path, err := jsonpath.Compile(p.Text)
	if err != nil {
		return Selector{}, fmt.Errorf("%s: %w", field, err)
	}
	return Selector{Path: path}, nil
}

func placement(p asl.Path) (Placement, error) {
	if p.Null {
		return Placement{Discard: true}, nil
	}
	if !p.Present || p.Text == "$" {
		return Placement{}, nil
	}
	ref, err := jsonpath.CompileReference(p.Text)
	if err != nil {
		return Placement{}, fmt.Errorf("ResultPath: %w", err)
	}
	return Placement{At: ref}, nil
}

// arguments compiles what a state passes to its task, branches or result.
func (d dialect) arguments(s *asl.State) (*Payload, error) {
	if s.Arguments != nil {
		return d.payload("Arguments", s.Arguments)
	}
	return d.payload("Parameters", s.Parameters)
}

// number compiles a numeric field; place is the prefix of its position in the state, such as ItemBatcher/.
func (d dialect) number(place, field string, s asl.Scalar) (Number, error) {
	switch {
	case s.Literal != nil && s.Literal.Kind() == jsonvalue.String:
		e, err := expression.Compile(place+field, *s.Literal)
		return Number{Present: true, Expression: e, Field: field}, err
	case s.Literal != nil:
		return Number{Present: true, Literal: s.Literal.Float(), Field: field}, nil
	case s.Path != "":
		p, err := jsonpath.Compile(s.Path)
		if err != nil {
			return Number{}, fmt.Errorf("%sPath: %w", field, err)
		}
		return Number{Present: true, Path: p, Field: field}, nil
	default:
		return Number{Field: field}, nil
	}
}

func (d dialect) text(field string, s asl.Scalar) (Text, error) {
	switch {
	case s.Literal != nil && d == dialect(asl.JSONata):
		e, err := expression.Compile(field, *s.Literal)
		return Text{Present: true, Expression: e, Field: field}, err
	case s.Literal != nil:
		return Text{Present: true, Literal: s.Literal.Text(), Field: field}, nil
	case s.Path != "":
		b := jsonvalue.NewObject(1)
		b.Set(field+"Path.$", jsonvalue.OfString(s.Path))
		t, err := template.Compile(b.Value())
		if err != nil {
			return Text{}, fmt.Errorf("%sPath: %w", field, err)
		}
		return Text{Present: true, Source: t, Field: field}, nil
	default:
		return Text{Field: field}, nil
	}
}

// policy returns the backoff rule of a retrier.
func policy(r *asl.Retrier) retry.Policy {
	p := retry.Policy{
		Interval: time.Duration(r.IntervalSeconds) * time.Second, Rate: r.BackoffRate,
		MaxDelay: time.Duration(r.MaxDelaySeconds) * time.Second, MaxAttempts: int(r.MaxAttempts),
		Jitter: retry.JitterNone,
	}
	if r.FullJitter {
		p.Jitter = retry.JitterFull
	}
	return p
}

// matcher determines which error names a retrier or catcher handles.
type matcher struct {
	names      []string
	all        bool // States.ALL
	taskFailed bool // States.TaskFailed
}

func newMatcher(names []string) matcher {
	m := matcher{names: names}
	for _, n := range names {
		m.all = m.all || n == ErrAll
		m.taskFailed = m.taskFailed || n == ErrTaskFailed
	}
	return m
}

// Matches reports whether the error is handled. States.Runtime never is, not even by name. States.TaskFailed matches
// everything except States.Timeout. A missed heartbeat, which is reported as States.Timeout, also matches
// States.HeartbeatTimeout.
func (m matcher) Matches(name string, heartbeat bool) bool {
	if name == ErrRuntime {
		return false
	}
	if m.all || m.taskFailed && name != ErrTimeout {
		return true
	}
	for _, n := range m.names {
		if n == name || heartbeat && n == ErrHeartbeatTimeout {
			return true
		}
	}
	return false
}

// Names of errors that the language itself raises.
const (
	ErrAll                    = "States.ALL"
	ErrTaskFailed             = "States.TaskFailed"
	ErrTimeout                = "States.Timeout"
	ErrHeartbeatTimeout       = "States.HeartbeatTimeout"
	ErrRuntime                = "States.Runtime"
	ErrNoChoiceMatched        = "States.NoChoiceMatched"
	ErrIntrinsicFailure       = "States.IntrinsicFailure"
	ErrDataLimitExceeded      = "States.DataLimitExceeded"
	ErrResultPathMatchFailure = "States.ResultPathMatchFailure"
	ErrExceedToleratedFailure = "States.ExceedToleratedFailureThreshold"
	ErrItemReaderFailed       = "States.ItemReaderFailed"
	ErrResultWriterFailed     = "States.ResultWriterFailed"
	ErrQueryEvaluation        = "States.QueryEvaluationError"
)

// isPath reports whether a choice operator compares with another path.
func isPath(operator string) bool {
	return strings.HasSuffix(operator, "Path")
}
