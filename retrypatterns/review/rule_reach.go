package review

import (
	"slices"
	"strconv"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

var retrierNeverMatches = Rule{
	Code: "RETRIER_NEVER_MATCHES", Severity: asl.SeverityWarning,
	Title: "a retrier that no error can reach",
	Why: "Retriers are tried in order, and the first that names an error takes it. These names never match: a name " +
		"after States.ALL or after the same name; a name that the state cannot raise (States.Timeout without " +
		"TimeoutSeconds; DynamoDb.ThrottlingException, which only aws-sdk Resources raise, in a retrier of " +
		"dynamodb:putItem, whose errors begin with DynamoDB.; an error of the nested execution in a state that waits for its end " +
		"with startExecution.sync, which fails with States.TaskFailed); and States.Runtime, which is never retried. Put the most " +
		"specific names first (Developer Guide, Handling errors).",
	check: func(s *subject) {
		for i := range s.Retry {
			names := s.Retry[i].ErrorEquals
			for j, name := range names {
				why := s.neverRaised(name)
				if by := slices.IndexFunc(s.Retry[:i], func(e asl.Retrier) bool {
					return takes(e.ErrorEquals, name)
				}); by >= 0 {
					why = "retrier " + ordinal(by) + " of the state takes it first"
				}
				if why == "" {
					continue
				}
				place := s.retrier(i, "ErrorEquals").Join(source.Element(j))
				if right := s.misnamed(name); right != "" && why == misnamed {
					s.found(place, nil, "write "+right, "'%s' never matches here: %s", name, why)
					continue
				}
				if why == ofChild { // removing the name would leave the child's error without a retry for good
					s.found(place, nil, childHint, "'%s' never matches here: %s", name, why)
					continue
				}
				fix := remove(place)
				if len(names) == 1 {
					fix = remove(s.retrier(i))
				}
				s.found(place, fix, "remove it, or put it first", "'%s' never matches here: %s", name, why)
			}
		}
	},
}

var catchNeverMatches = Rule{
	Code: "CATCH_NEVER_MATCHES", Severity: asl.SeverityWarning,
	Title: "a catcher that no error can reach",
	Why: "Catchers are tried in order, as retriers are. States.Runtime is never caught, and a name after a catcher " +
		"that already takes it does nothing (Developer Guide, Handling errors).",
	check: func(s *subject) {
		for i := range s.Catch {
			for j, name := range s.Catch[i].ErrorEquals {
				why := s.neverRaised(name)
				if by := slices.IndexFunc(s.Catch[:i], func(e asl.Catcher) bool {
					return takes(e.ErrorEquals, name)
				}); by >= 0 {
					why = "catcher " + ordinal(by) + " of the state takes it first"
				}
				hint := "remove it, or put it first"
				switch why {
				case misnamed:
					hint = "write " + s.misnamed(name)
				case ofChild:
					hint = childHint
				}
				if why != "" {
					s.found(s.catcher(i).Join(source.Member("ErrorEquals"), source.Element(j)), nil, hint,
						"'%s' is never caught here: %s", name, why)
				}
			}
		}
	},
}

// misnamed explains why an error with the prefix of the other kind of Resource is never raised.
const misnamed = "errors of optimized integrations and of aws-sdk Resources begin differently"

// ofChild explains why the error of a nested execution is never raised, and childHint what to do instead.
const (
	ofChild   = "a nested execution that fails raises States.TaskFailed, and its own error name is only in the Cause"
	childHint = "retry and catch it inside the nested state machine, or catch States.TaskFailed and let a Choice read the Cause"
)

// ofChild reports whether a name can only be the error of the nested execution for whose end the state waits. Errors of
// the call itself begin with StepFunctions.
func (s *subject) ofChild(name string) bool {
	own, _, _ := s.prefixes()
	return s.nested() && !strings.HasPrefix(name, "States.") && !strings.HasPrefix(name, own)
}

// nested reports whether the state starts an execution and waits for its end.
func (s *subject) nested() bool { return s.is("states", "startExecution") && s.jobs() }

// neverRaised returns the reason why a state cannot fail with an error or cannot handle it. It returns "" if it
// can.
func (s *subject) neverRaised(name string) string {
	switch {
	case name == "States.Runtime":
		return "States.Runtime is never retried or caught"
	case s.Type != asl.Task:
		return ""
	case s.misnamed(name) != "":
		return misnamed
	case s.ofChild(name):
		return ofChild
	case name == heartbeatTimeout && !s.HeartbeatSeconds.Present():
		return "the state has no HeartbeatSeconds"
	case name == statesTimeout && !s.bounded() && s.r.machine.TimeoutSeconds == 0 && !s.waits() && !s.jobs():
		return "the state has no TimeoutSeconds; the timeout of a function is Sandbox.Timedout or Lambda.Unknown"
	default:
		return ""
	}
}

// ordinal returns the number of a retrier, counted from 1.
func ordinal(i int) string { return strconv.Itoa(i + 1) }

var heartbeatName = Rule{
	Code: "HEARTBEAT_NAME", Severity: asl.SeverityAdvice,
	Title: "only States.HeartbeatTimeout is named",
	Why: "The documentation calls a missed heartbeat States.HeartbeatTimeout; recorded executions of the service " +
		"fail with States.Timeout. Name both.",
	check: func(s *subject) {
		named := func(where source.Path, names []string, retries int64) {
			if slices.Contains(names, heartbeatTimeout) && !takes(names, statesTimeout) {
				fix := appendTo(where.Join(source.Member("ErrorEquals")), `"States.Timeout"`)
				if s.blind(retries) {
					fix = nil
				}
				s.found(where.Join(source.Member("ErrorEquals")), fix, `name "States.Timeout" too`,
					"a missed heartbeat has been recorded to fail with States.Timeout, which is not named here")
			}
		}
		for i := range s.Retry {
			if _, n := s.retrierOf(statesTimeout); n == 0 {
				named(s.retrier(i), s.Retry[i].ErrorEquals, s.Retry[i].MaxAttempts)
			}
		}
		for i := range s.Catch {
			if !s.catches(statesTimeout) {
				named(s.catcher(i), s.Catch[i].ErrorEquals, 0)
			}
		}
	},
}
