package handlers

import (
	"fmt"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/retrypatterns/review"
)

// The codes of the rules.
const (
	effectOutside  asl.Code = "EFFECT_OUTSIDE_STEP"
	differs        asl.Code = "DIFFERS_IN_REPLAY"
	operationIn    asl.Code = "OPERATION_IN_STEP"
	unbounded      asl.Code = "STEP_RETRIES_UNBOUNDED"
	stepNoJitter   asl.Code = "STEP_NO_JITTER"
	notIdempotent  asl.Code = "STEP_NOT_IDEMPOTENT"
	stepMultiplies asl.Code = "STEP_RETRIES_MULTIPLY"
	hiddenLayers   asl.Code = "STEP_HIDDEN_LAYERS"
	ignoreUnclear  asl.Code = "IGNORE_UNCLEAR"
)

var rules = []review.Rule{
	{
		Code: effectOutside, Severity: asl.SeverityError,
		Title: "a call to the outside is not in a step",
		Why: "A durable function runs from its beginning after every wait, every retry and every interruption. What is not in a " +
			"step runs again each time: the message is sent twice, the file is written twice, and a read may return " +
			"another answer than before. Put the call into a step, whose result is checkpointed (Durable Execution SDK guide, " +
			"Determinism during replay).",
	},
	{
		Code: differs, Severity: asl.SeverityWarning,
		Title: "a value outside steps is another one in each replay",
		Why: "The clock, random numbers, UUIDs and goroutines give another result when the function is replayed. The code may " +
			"then take another branch than the one whose checkpoints exist, and fail or call with wrong arguments. Take " +
			"the value in a step and use its result (Durable Execution SDK guide, Determinism during replay).",
	},
	{
		Code: operationIn, Severity: asl.SeverityError,
		Title: "a durable operation is in the body of a step",
		Why: "A step is one unit of work. The operations of the durable context get their identity from their order outside " +
			"steps; in a step they are not found again when the function is replayed. Group operations with " +
			"runInChildContext (RunInChildContext in Go) instead.",
	},
	{
		Code: unbounded, Severity: asl.SeverityWarning,
		Title: "retries practically without a limit",
		Why: "More than 100 attempts, a strategy that never declines, or an endless loop around a step hide a permanent failure " +
			"until the execution has used its 3,000 operations or times out, which may be after a year. Each retry costs an " +
			"operation and an invocation. Limit the attempts, and decline errors that no retry can fix.",
	},
	{
		Code: stepNoJitter, Severity: asl.SeverityWarning,
		Title: "a step waits without jitter",
		Why: "Executions that failed together come back together, and overload the service again. JitterStrategy.FULL, the " +
			"default of createRetryStrategy, spreads them. The preset `linear` and, in Go, LinearBackoff have no jitter unless " +
			"it is set.",
	},
	{
		Code: notIdempotent, Severity: asl.SeverityWarning,
		Title: "a step may do its work twice",
		Why: "A step runs at least once: after an interruption or a retry it runs again, although the first call may have arrived. " +
			"AtMostOncePerRetry prevents only the repetition after an interruption. Send a token made from the input or from " +
			"an earlier step, so that the receiver recognises the second call, or use AtMostOncePerRetry without retries and " +
			"handle the failure (Durable Execution SDK guide, Idempotency and retries).",
	},
	{
		Code: stepMultiplies, Severity: asl.SeverityWarning,
		Title: "retries inside retries",
		Why: "withRetry (Retry in Go), a loop around a step, and a retry library in a step multiply with the step's own strategy, " +
			"which is 6 attempts if none is set. An outage then gets many times the calls. Retry in one layer: give the step a " +
			"strategy that never retries, or remove the outer layer.",
	},
	{
		Code: hiddenLayers, Severity: asl.SeverityAdvice,
		Title: "the AWS SDK retries inside the step's retries",
		Why: "Since November 2026 an AWS SDK makes 3 attempts of each call within 0.15 s, or 3 s if the service throttles, and 4 " +
			"attempts for DynamoDB. They multiply with the attempts of the step. That is good for single lost calls; in an " +
			"outage it is load. Create the client with maxAttempts 1 (RetryMaxAttempts in Go) if the step's strategy is enough. " +
			"A state machine that calls the function with a Retry multiplies once more; the code does not show it.",
	},
	{
		Code: ignoreUnclear, Severity: asl.SeverityWarning,
		Title: "a stepback:ignore without an existing rule, or without a reason",
		Why: "The next reader of the code must see why a finding does not count: stepback:ignore CODE reason. Remove a comment that " +
			"no longer silences anything.",
	},
}

// Rules returns the rules in the order of the documentation. The slice is a copy.
func Rules() []review.Rule { return slices.Clone(rules) }

// RuleNamed returns the rule with a code, ignoring case; ok is false if there is none.
func RuleNamed(code string) (review.Rule, bool) {
	i := slices.IndexFunc(rules, func(r review.Rule) bool { return strings.EqualFold(string(r.Code), code) })
	if i < 0 {
		return review.Rule{}, false
	}
	return rules[i], true
}

func ruleNamed(code asl.Code) review.Rule {
	r, _ := RuleNamed(string(code))
	return r
}

// route describes how durable code reaches a call in a function.
func (c *call) route() string {
	if c.via == 0 {
		return ""
	}
	return fmt.Sprintf(", reached from line %d,", c.via)
}

// checkCall applies the rules about calls.
func (f *file) checkCall(c *call) {
	s := c.step
	switch {
	case s == nil && c.kind == effect:
		f.found(effectOutside, c.at, "", "put it into a step", "%s%s is called again at every replay", c.what, c.route())
	case s == nil && c.kind == impure:
		f.found(differs, c.at, "", "take it in a step and use the result", "%s%s differs at every replay", c.what, c.route())
	case s != nil && c.kind == operation:
		f.found(operationIn, c.at, s.location(), "use runInChildContext to group operations",
			"%s%s is in the body of a step", c.what, c.route())
	case s == nil:
	case c.kind == retries:
		if n := s.retry.attempts; n != 1 {
			f.found(stepMultiplies, c.at, s.location(), "retry in one layer: either here, or by the step's retryStrategy",
				"%s%s retries inside a step that makes %s", c.what, c.route(), tries(n))
		}
	case c.kind == effect:
		n := s.retry.attempts
		if c.repeats && (!s.atMostOnce || n != 1) {
			why := "the step runs at least once, and makes " + tries(n)
			switch {
			case s.atMostOnce:
				why = "the step makes " + tries(n)
			case n == 1:
				why = "the step runs at least once"
			}
			f.found(notIdempotent, c.at, s.location(), c.hint, "%s%s may be done twice: %s", c.what, c.route(), why)
		}
		if c.attempts > 1 && n > 1 {
			f.found(hiddenLayers, c.at, s.location(), "create the client with 1 attempt, or let only one layer retry",
				"up to %d calls of %s%s: the step makes up to %d attempts, the AWS SDK %d of each", c.attempts*n, c.what, c.route(), n,
				c.attempts)
		}
	}
}

// tries describes a number of attempts.
func tries(n int) string {
	switch n {
	case 0:
		return "a number of attempts that the code does not show"
	case unlimited:
		return "attempts without limit"
	case 1:
		return "1 attempt"
	}
	return fmt.Sprintf("up to %d attempts", n)
}

// manyAttempts is the number of attempts above which retrying is practically unlimited.
const manyAttempts = 101

// checkStep applies the rules about strategies.
func (f *file) checkStep(s *step) {
	for _, x := range []*strategy{&s.retry, s.waits} {
		switch {
		case x == nil:
		case x.attempts == unlimited && x == s.waits:
			f.found(unbounded, x.at, s.location(), "stop after a number of attempts", "the wait strategy never stops")
		case x.attempts == unlimited:
			f.found(unbounded, x.at, s.location(), "decline after a number of attempts", "the strategy never declines a retry")
		case x.attempts > manyAttempts:
			f.found(unbounded, x.at, s.location(), "an execution may have 3,000 operations, and each retry is one",
				"%d attempts are practically without a limit", x.attempts)
		}
	}
	if s.retry.jitter == "NONE" && (s.retry.attempts > 1 || s.retry.attempts == unlimited || s.retry.custom) {
		f.found(stepNoJitter, s.retry.at, s.location(), "use JitterStrategy.FULL (JitterFull in Go), or add a random part to the delay",
			"executions that fail together retry together")
	}
	own := s.retry.attempts
	for _, b := range s.around {
		if n := b.retry.attempts; own != 1 && n != 1 && !s.block {
			f.found(stepMultiplies, s.at, s.location(), "give one of them a strategy that never retries",
				"the step makes %s in each attempt of %s, which makes %s", tries(own), b.location(), tries(n))
			return
		}
	}
	if s.loop != nil && own != 1 && !s.block {
		f.found(stepMultiplies, s.at, s.location(), "retry in one layer: by the loop, or by the step's strategy",
			"the step makes %s in each round of the loop on line %d, which repeats it until it succeeds", tries(own),
			f.line(s.loop.at.Start))
	}
}

// checkLoop applies the rule about loops.
func (f *file) checkLoop(l *loop) {
	if l.endless {
		f.found(unbounded, l.at, "", "count the rounds and give up", "the loop repeats its steps until one succeeds")
	}
}
