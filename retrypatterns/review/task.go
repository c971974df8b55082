package review

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/retrypatterns"
)

// lambdaFaults are the errors of Lambda itself that AWS's own recommendations retry.
var lambdaFaults = []string{
	retrypatterns.LambdaServiceException, retrypatterns.LambdaAWSLambdaException,
	retrypatterns.LambdaSdkClientException,
	retrypatterns.LambdaClientExecutionTimeoutException, retrypatterns.LambdaTooManyRequestsException,
}

// task reviews what a Task leaves to chance.
func (r *reviewer) task(s *asl.State, at source.Path) {
	if s.Type != asl.Task || r.unknown != nil && r.unknown(s.Resource) {
		return
	}
	if missing := untaken(s, lambdaFaults); strings.Contains(s.Resource, ":lambda:") && len(missing) > 0 {
		r.advise(LambdaNotRetried, at.Join(source.Member("Retry")),
			"retry them with an IntervalSeconds of 1 or 2, 6 attempts and jitter",
			"no retrier takes %s: a hiccup of Lambda fails the state", strings.Join(missing, ", "))
	}
	waits := strings.HasSuffix(s.Resource, ".waitForTaskToken") || strings.Contains(s.Resource, ":activity:")
	if waits && !s.TimeoutSeconds.Present() && !s.HeartbeatSeconds.Present() {
		r.advise(FailureUnnoticed, at.Join(source.Member("TimeoutSeconds")),
			"add TimeoutSeconds or HeartbeatSeconds, and retry States.Timeout",
			"an answer that never comes is never noticed, and so never retried")
	}
}

// untaken are the errors that no retrier of the state takes.
func untaken(s *asl.State, names []string) []string {
	var missing []string
	for _, name := range names {
		if !slices.ContainsFunc(s.Retry, func(x asl.Retrier) bool { return takes(x.ErrorEquals, name) }) {
			missing = append(missing, name)
		}
	}
	return missing
}
