package review

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

// unknownOutcome returns the index of the first retrier for errors that leave open whether the task did its work; -1
// if none retries them.
func (s *subject) unknownOutcome() int {
	for _, name := range []string{statesTimeout, allErrors, taskFailed} {
		if i, n := s.retrierOf(name); n > 0 && (name != statesTimeout || s.bounded() || i >= 0) {
			return i
		}
	}
	return slices.IndexFunc(s.Retry, func(x asl.Retrier) bool {
		return x.MaxAttempts > 0 && slices.ContainsFunc(x.ErrorEquals, func(name string) bool {
			return strings.HasSuffix(name, "SdkClientException") || name == "States.Http.Socket"
		})
	})
}

var notIdempotent = Rule{
	Code: "NOT_IDEMPOTENT_RETRIED", Severity: asl.SeverityWarning,
	Title: "a retry may do the work twice",
	Why: "After a timeout or a broken connection it is unknown whether the first call arrived. A retry then starts " +
		"a second job or sends a second message, unless the call carries a token by which the service recognises it " +
		"(Developer Guide, Integrating services: Run a Job). A queue or topic that only keeps failed work is left out.",
	check: func(s *subject) {
		twice, hint := s.repeats()
		if i := s.unknownOutcome(); twice && i >= 0 && !s.parks() {
			s.found(s.retrier(i, "ErrorEquals"), nil, hint,
				"a retry after an unknown outcome calls %s a second time", s.named())
		}
	},
}

var expressTwice = Rule{
	Code: "EXPRESS_TWICE", Severity: asl.SeverityWarning,
	Title: "an Express execution may do the work twice",
	Why: "An Express execution may run more than once (at least once). Tasks that are not idempotent belong in a " +
		"Standard one (Developer Guide, Choosing workflow type).",
	check: func(s *subject) {
		twice, hint := s.repeats()
		if (s.is("states", "startExecution") || s.is("sfn", "startExecution")) && !s.has("Name") && !s.open() {
			twice, hint = true, "give the execution a Name from the input"
		}
		if twice && (s.express || s.r.options.Express) && !s.parks() {
			s.found(s.in(source.Member("Resource")), nil, hint, "an Express execution may call %s more than once",
				s.named())
		}
	},
}

var childName = Rule{
	Code: "CHILD_NAME_REUSED", Severity: asl.SeverityWarning,
	Title: "the name of a nested execution does not fit its retries",
	Why: "A second start with a fixed Name is rejected with ExecutionAlreadyExists; without a Name each retry " +
		"starts another execution. Take the name from the input, so that the second start finds the first execution.",
	check: func(s *subject) {
		i := s.unknownOutcome()
		if !s.is("states", "startExecution") && !s.is("sfn", "startExecution") || i < 0 || s.open() {
			return
		}
		name, literal := s.text("Name")
		switch {
		case literal:
			s.found(s.in(source.Member(s.inputField()), source.Member("Name")), nil, "take the name from the input",
				"a retry starts %q again, which is rejected with ExecutionAlreadyExists", name)
		case !s.has("Name"):
			s.found(s.retrier(i), nil, "give the execution a Name from the input",
				"a retry after an unknown outcome starts a second execution")
		}
	},
}

// inputField returns the name of the state's member that holds the parameters of the call.
func (s *subject) inputField() string {
	if s.Arguments != nil {
		return "Arguments"
	}
	return "Parameters"
}

var mapRetriedWhole = Rule{
	Code: "MAP_RETRIED_WHOLE", Severity: asl.SeverityWarning,
	Title: "a Map or Parallel state is retried as a whole",
	Why: "A retry runs all iterations or branches again, including the successful ones, in a new Map Run. Retry " +
		"the states inside, and redrive a distributed Map (Developer Guide, Distributed Map).",
	check: func(s *subject) {
		if s.Type != asl.Map && s.Type != asl.Parallel {
			return
		}
		ends := []string{"States.ItemReaderFailed",
			"States.ResultWriterFailed"} // before the first item, after the last
		s.active(func(i int, x *asl.Retrier) {
			if slices.ContainsFunc(x.ErrorEquals, func(name string) bool { return !slices.Contains(ends, name) }) {
				what := "branches"
				if s.Type == asl.Map {
					what = "iterations"
				}
				s.found(s.retrier(i), nil, "retry the states inside",
					"a retry runs all %s again, including the successful ones",
					what)
			}
		})
	},
}

var toleranceRetried = Rule{
	Code: "TOLERANCE_RETRIED", Severity: asl.SeverityWarning,
	Title: "States.ExceedToleratedFailureThreshold is retried",
	Why: "States.ExceedToleratedFailureThreshold means that too many items have failed. The retry runs all of them " +
		"again, and they fail again. Retry inside the children; catch this error.",
	check: func(s *subject) {
		const exceeded = "States.ExceedToleratedFailureThreshold"
		s.active(func(i int, x *asl.Retrier) {
			if j := slices.Index(x.ErrorEquals, exceeded); j >= 0 {
				s.found(s.retrier(i, "ErrorEquals").Join(source.Element(j)), nil, "catch it instead",
					"too many items have failed, and a retry runs all of them again")
			}
		})
	},
}

var hiddenLayers = Rule{
	Code: "HIDDEN_LAYERS", Severity: asl.SeverityAdvice,
	Title: "another layer retries too",
	Why: "Lambda retries a function that is invoked with InvocationType Event twice, which the state never sees; a " +
		"nested state machine has its own retries. The retries here multiply with theirs. So do those of the AWS SDK in " +
		"a function: 3 attempts of each call within 0.15 s, or 3 s if the service throttles, and 4 attempts for DynamoDB. " +
		"The steps of a durable function are retried up to 5 times each unless their strategies say otherwise, and an invocation " +
		"with the DurableExecutionName of an earlier one and the same input returns the result of that one, so a retry of a " +
		"failed execution fails again at once. " +
		"`stepback retries explain` lists all layers of a state.",
	check: func(s *subject) {
		n := s.all()
		kind, _ := s.text("InvocationType")
		switch {
		case s.lambda() && kind == "Event":
			s.found(s.in(source.Member(s.inputField()), source.Member("InvocationType")), nil,
				"set the function's MaximumRetryAttempts and a destination for what fails",
				"Lambda retries the function twice by itself: up to %d runs, whose failures the state never sees",
				times(3, 1+n))
		case s.lambda() && s.has("DurableExecutionName") && n > 0:
			s.found(s.in(source.Member("Retry")), nil, "retry in the steps of the function, and here only errors before it starts",
				"the function is durable: its steps retry by themselves, and a retry with the same name returns the same failure")
		case s.is("states", "startExecution") && s.jobs() && n > 0:
			s.found(s.in(source.Member("Retry")), nil, "retry inside the nested state machine, or here",
				"the retries of the nested state machine run up to %d times", 1+n)
		}
	},
}
