package review

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/retry"
)

var permanentRetried = Rule{
	Code: "PERMANENT_ERROR_RETRIED", Severity: asl.SeverityWarning,
	Title: "a permanent error is retried",
	Why: "A missing permission, a rejected input or a result that is too large fails in the same way at every " +
		"attempt. Retrying it costs time and money and hides the cause. Put the names into a first retrier with " +
		"MaxAttempts 0.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			for j, name := range x.ErrorEquals {
				if permanent(name) {
					s.found(s.retrier(i, "ErrorEquals").Join(source.Element(j)), nil,
						"give it MaxAttempts 0, or only a catcher", "%s is permanent: every attempt fails in the same way",
						name)
				}
			}
		})
	},
}

// failedByDefinition lists errors of the definition or its input, which recur at every attempt.
var failedByDefinition = []string{
	"States.ParameterPathFailure", "States.ResultPathMatchFailure", "States.IntrinsicFailure",
	"States.QueryEvaluationError", "States.NoChoiceMatched",
}

// permanent reports whether no retry can fix an error. That is so for the table's permanent errors, for errors of
// the definition, and for errors with which an AWS service rejects the request, such as
// DynamoDb.ValidationException.
func permanent(name string) bool {
	if retry.IsPermanent(name) || slices.Contains(failedByDefinition, name) {
		return true
	}
	service, code, ok := strings.Cut(name, ".")
	if !ok || service == "States" {
		return false
	}
	c, known := retry.ClassifyAWS(service, code)
	return known && c.Class == retry.Permanent
}

var everythingRetried = Rule{
	Code: "EVERY_ERROR_RETRIED", Severity: asl.SeverityWarning,
	Title: "every error is retried, including permanent ones",
	Why: "States.ALL and States.TaskFailed also match validation errors and missing permissions, which fail in the " +
		"same way at every attempt. Exclude them with a first retrier that names them with MaxAttempts 0.",
	check: func(s *subject) {
		if s.parks() {
			return
		}
		s.active(func(i int, x *asl.Retrier) {
			// After a retrier that excludes errors, or one for States.TaskFailed that was reported, there is nothing
			// left to report.
			excepted := slices.ContainsFunc(s.Retry[:i], func(e asl.Retrier) bool {
				return e.MaxAttempts == 0 || slices.Contains(e.ErrorEquals, taskFailed)
			})
			for j, name := range x.ErrorEquals {
				if (name == allErrors || name == taskFailed) && !excepted {
					s.found(s.retrier(i, "ErrorEquals").Join(source.Element(j)), nil,
						s.exclusion(),
						"%s also retries permanent errors, such as a rejected input", name)
				}
			}
		})
	},
}

// exclusion returns the hint how to keep permanent errors from being retried. It names errors that the state can raise.
func (s *subject) exclusion() string {
	named := func(errors string) string {
		return `put {"ErrorEquals": [` + errors + `], "MaxAttempts": 0} before it`
	}
	own, _, known := s.prefixes()
	switch {
	case s.nested():
		return "retry inside the nested state machine, which sees the names of its errors; here all of them are States.TaskFailed"
	case s.jobs():
		return "a job that fails raises States.TaskFailed, whatever the reason: " +
			"catch it, and let a Choice read the reason in the Cause before the job starts again"
	case s.is("http", "invoke"):
		return named(`"States.Http.StatusCode.400", "States.Http.StatusCode.401", "States.Http.StatusCode.403", "States.Http.StatusCode.404"`)
	case known && !s.lambda() && strings.HasSuffix(own, "."):
		return named(`"` + own + `AccessDeniedException", the errors that reject your input`)
	default:
		return named("your validation errors")
	}
}

// lambdaErrors are Lambda's own errors that AWS recommends retrying.
var lambdaErrors = []string{
	retry.LambdaServiceException, retry.LambdaAWSLambdaException,
	retry.LambdaSdkClientException, retry.LambdaClientExecutionTimeoutException,
	retry.LambdaTooManyRequestsException,
}

var lambdaFaults = Rule{
	Code: "LAMBDA_FAULTS_NOT_RETRIED", Severity: asl.SeverityWarning,
	Title: "a transient error of Lambda itself fails the state",
	Why: "Calls to Lambda are occasionally rejected, throttled or cut off, and the function is not at fault. AWS " +
		"recommends retrying these errors wherever a function is called (Best practices: Handle transient Lambda " +
		"service exceptions).",
	check: func(s *subject) {
		missing := s.unmatched(lambdaErrors)
		if !s.lambda() || len(missing) == 0 {
			return
		}
		quoted := `"` + strings.Join(missing, `", "`) + `"`
		retrier := `{"ErrorEquals": [` + quoted + `], "IntervalSeconds": 1, "MaxAttempts": 6, "BackoffRate": 2, ` +
			`"MaxDelaySeconds": 60, "JitterStrategy": "FULL"}`
		fix := s.r.prepend(s.at, "Retry", retrier)
		if s.around > 1 { // see RETRIES_MULTIPLY: which level should retry is for a person to decide
			fix = nil
		}
		s.found(s.in(source.Member("Retry")), fix,
			"retry them with an IntervalSeconds of 1 or 2, 6 attempts and jitter",
			"no retrier takes %s: a transient error of Lambda fails the state", strings.Join(missing, ", "))
	},
}

// prefixes are the prefixes of a service's error names. optimized is used by its optimized integration, sdk by
// aws-sdk Resources.
type prefixes struct{ optimized, sdk string }

// faultPrefixes maps services, as named in Resources, to the prefixes of their errors.
var faultPrefixes = map[string]prefixes{
	"dynamodb": {"DynamoDB.", "DynamoDb."}, "s3": {"S3.", "S3."}, "sqs": {"SQS.", "Sqs."}, "sns": {"SNS.", "Sns."},
	"events": {"EventBridge.", "EventBridge."}, "eventbridge": {"EventBridge.", "EventBridge."},
	"states": {"StepFunctions.", "Sfn."}, "sfn": {"StepFunctions.", "Sfn."}, "glue": {"Glue.", "Glue."},
	"ecs": {"ECS.", "Ecs."}, "athena": {"Athena.", "Athena."},
	"bedrockruntime": {"BedrockRuntime.", "BedrockRuntime."}, "bedrock": {"Bedrock", "Bedrock"}, // also BedrockRuntime.
	"kinesis": {"Kinesis.", "Kinesis."},
}

// namesService reports whether a retrier or catcher of a state names an error of a service other than Lambda.
func namesService(s *asl.State) bool {
	is := func(name string) bool {
		for _, p := range faultPrefixes {
			if strings.HasPrefix(name, p.optimized) || strings.HasPrefix(name, p.sdk) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(s.Retry, func(x asl.Retrier) bool { return slices.ContainsFunc(x.ErrorEquals, is) }) ||
		slices.ContainsFunc(s.Catch, func(x asl.Catcher) bool { return slices.ContainsFunc(x.ErrorEquals, is) })
}

// prefixes returns two prefixes of the service's error names: own for errors that the call raises, and other for
// errors that it never raises. other is empty if both are equal.
func (c *call) prefixes() (own, other string, known bool) {
	p, known := faultPrefixes[c.service]
	if own, other = p.optimized, p.sdk; c.sdk {
		own, other = other, own
	}
	if own == other {
		other = ""
	}
	return own, other, known
}

// misnamed returns the correct name of an error whose prefix belongs to the service's other kind of Resource. It
// returns "" for any other error.
func (s *subject) misnamed(name string) string {
	own, other, known := s.prefixes()
	if !known || other == "" || !strings.HasPrefix(name, other) {
		return ""
	}
	return own + strings.TrimPrefix(name, other)
}

var serviceFaults = Rule{
	Code: "SERVICE_FAULTS_NOT_RETRIED", Severity: asl.SeverityWarning,
	Title: "a transient error of the service that a task calls fails the state",
	Why: "Services occasionally throttle, and connections break. Retry the service's throttling and server errors " +
		"and its SdkClientException, or States.TaskFailed after the permanent errors.",
	check: func(s *subject) {
		prefix, other, known := s.prefixes()
		if !known || s.lambda() {
			return
		}
		taken := s.retried(taskFailed) || s.retried(allErrors)
		s.active(func(_ int, x *asl.Retrier) {
			taken = taken || slices.ContainsFunc(x.ErrorEquals, func(name string) bool {
				// RETRIER_NEVER_MATCHES reports a misspelt name, so it is not reported here again.
				return name == taskFailed || name == allErrors || strings.HasPrefix(name, prefix) ||
					other != "" && strings.HasPrefix(name, other) || s.service == "ecs" && strings.HasPrefix(name, "AmazonECS.")
			})
		})
		if !taken {
			s.found(s.in(source.Member("Retry")), nil,
				"retry its throttling, its server errors and "+strings.TrimSuffix(prefix, ".")+
					".SdkClientException, with jitter",
				"no retrier takes an error of %s: one throttled or broken call fails the state", strings.TrimSuffix(prefix, "."))
		}
	},
}

var httpCodes = Rule{
	Code: "HTTP_CODES", Severity: asl.SeverityWarning,
	Title: "the wrong responses of an HTTP endpoint are retried",
	Why: "Most 4xx responses are permanent; 429, 503, 502, 504 and a broken connection (States.Http.Socket) are " +
		"transient. Name the codes: States.Http.StatusCode.429 (Developer Guide, Call HTTPS APIs).",
	check: func(s *subject) {
		if !s.is("http", "invoke") {
			return
		}
		const code = "States.Http.StatusCode."
		s.active(func(i int, x *asl.Retrier) {
			for j, name := range x.ErrorEquals {
				status := strings.TrimPrefix(name, code)
				passing := status == "408" || status == "425" || status == "429"
				if strings.HasPrefix(name, code+"4") && !passing {
					s.found(s.retrier(i, "ErrorEquals").Join(source.Element(j)), nil, "remove it",
						"an endpoint that answers %s will answer the same again", status)
				}
			}
		})
		missing := slices.DeleteFunc([]string{code + "429", code + "503", "States.Http.Socket"}, s.retried)
		if len(missing) > 0 {
			s.found(s.in(source.Member("Retry")), nil, "retry them with jitter",
				"no retrier takes %s, which is transient", strings.Join(missing, ", "))
		}
	},
}

var taskFailedMissesTimeout = Rule{
	Code: "TASKFAILED_MISSES_TIMEOUT", Severity: asl.SeverityWarning,
	Title: "States.TaskFailed is retried, but the state's timeout is not",
	Why: "States.TaskFailed matches every error of a task except States.Timeout (Developer Guide, Handling " +
		"errors). A state with TimeoutSeconds that retries only States.TaskFailed fails at its first timeout.",
	check: func(s *subject) {
		if !s.bounded() {
			return
		}
		i := slices.IndexFunc(s.Retry, func(x asl.Retrier) bool {
			return x.MaxAttempts > 0 && slices.Contains(x.ErrorEquals, taskFailed)
		})
		if by, _ := s.retrierOf(statesTimeout); i >= 0 && by < 0 {
			s.found(s.retrier(i, "ErrorEquals"), nil,
				"add a retrier on States.Timeout where the task may run twice; with MaxAttempts 0 where it may not",
				"States.TaskFailed does not match States.Timeout, the error of this state's timeout")
		}
	},
}

var functionTimeoutMissed = Rule{
	Code: "FUNCTION_TIMEOUT_MISSED", Severity: asl.SeverityWarning,
	Title: "the state's timeout is retried, but the function's own is not",
	Why: "States.Timeout is the error of the state's TimeoutSeconds. A function that reaches its own timeout fails " +
		"with Sandbox.Timedout, on older runtimes with Lambda.Unknown.",
	check: func(s *subject) {
		if !s.lambda() {
			return
		}
		i := slices.IndexFunc(s.Retry, func(x asl.Retrier) bool {
			return x.MaxAttempts > 0 && slices.Contains(x.ErrorEquals, statesTimeout)
		})
		missing := s.unmatched([]string{retry.SandboxTimedout, retry.LambdaUnknown})
		if i >= 0 && len(missing) > 0 {
			quoted := `"` + strings.Join(missing, `", "`) + `"`
			fix := appendTo(s.retrier(i, "ErrorEquals"), quoted)
			if s.blind(s.Retry[i].MaxAttempts) { // the timeouts get a retrier of their own first
				fix = nil
			}
			s.found(s.retrier(i, "ErrorEquals"), fix, "name them too",
				"no retrier takes %s: the function's own timeout fails the state", strings.Join(missing, ", "))
		}
	},
}
