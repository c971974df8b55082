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
	Title: "an error is retried that no retry mends",
	Why: "A missing right, an input that is refused or a result that is too large stays so. Retrying it costs time " +
		"and money and hides the cause. Give the names MaxAttempts 0 in a first retrier.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			for j, name := range x.ErrorEquals {
				if permanent(name) {
					s.found(s.retrier(i, "ErrorEquals").Join(source.Element(j)), nil,
						"give it MaxAttempts 0, or only a catcher", "no retry mends %s: every attempt fails alike",
						name)
				}
			}
		})
	},
}

// failedByDefinition are errors of the definition or its input, which are the same at every attempt.
var failedByDefinition = []string{
	"States.ParameterPathFailure", "States.ResultPathMatchFailure", "States.IntrinsicFailure",
	"States.QueryEvaluationError", "States.NoChoiceMatched",
}

// permanent reports whether no retry mends an error: one of the table's, of the definition, or of an AWS service that
// refuses the request, such as DynamoDb.ValidationException.
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
	Title: "every error is retried, the permanent ones too",
	Why: "States.ALL and States.TaskFailed also take validation errors and missing rights, which fail alike at each " +
		"attempt. A first retrier that names them with MaxAttempts 0 excepts them.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			// After a retrier that excepts errors, or one on States.TaskFailed that was reported, nothing is left to
			// say.
			excepted := slices.ContainsFunc(s.Retry[:i], func(e asl.Retrier) bool {
				return e.MaxAttempts == 0 || slices.Contains(e.ErrorEquals, taskFailed)
			})
			for j, name := range x.ErrorEquals {
				if (name == allErrors || name == taskFailed) && !excepted {
					s.found(s.retrier(i, "ErrorEquals").Join(source.Element(j)), nil,
						`put {"ErrorEquals": [your validation errors], "MaxAttempts": 0} before it`,
						"%s also retries errors that no retry mends, such as a refused input", name)
				}
			}
		})
	},
}

// lambdaErrors are the errors of Lambda itself that AWS's own recommendations retry.
var lambdaErrors = []string{
	retry.LambdaServiceException, retry.LambdaAWSLambdaException,
	retry.LambdaSdkClientException, retry.LambdaClientExecutionTimeoutException,
	retry.LambdaTooManyRequestsException,
}

var lambdaFaults = Rule{
	Code: "LAMBDA_FAULTS_NOT_RETRIED", Severity: asl.SeverityWarning,
	Title: "a hiccup of Lambda itself fails the state",
	Why: "Lambda is refused, throttled or cut off now and then through no fault of the function. AWS recommends to " +
		"retry these errors wherever a function is called (Best practices: Handle transient Lambda service exceptions).",
	check: func(s *subject) {
		missing := s.untaken(lambdaErrors)
		if !s.lambda() || len(missing) == 0 {
			return
		}
		quoted := `"` + strings.Join(missing, `", "`) + `"`
		retrier := `{"ErrorEquals": [` + quoted + `], "IntervalSeconds": 1, "MaxAttempts": 6, "BackoffRate": 2, ` +
			`"MaxDelaySeconds": 60, "JitterStrategy": "FULL"}`
		s.found(s.in(source.Member("Retry")), s.r.prepend(s.at, "Retry", retrier),
			"retry them with an IntervalSeconds of 1 or 2, 6 attempts and jitter",
			"no retrier takes %s: a hiccup of Lambda fails the state", strings.Join(missing, ", "))
	},
}

// prefixes are how the errors of a service begin: those of its optimized integration, and those of aws-sdk Resources.
type prefixes struct{ optimized, sdk string }

// faultPrefixes are the prefixes by service, as Resources name it.
var faultPrefixes = map[string]prefixes{
	"dynamodb": {"DynamoDB.", "DynamoDb."}, "s3": {"S3.", "S3."}, "sqs": {"SQS.", "Sqs."}, "sns": {"SNS.", "Sns."},
	"events": {"EventBridge.", "EventBridge."}, "eventbridge": {"EventBridge.", "EventBridge."},
	"states": {"StepFunctions.", "Sfn."}, "sfn": {"StepFunctions.", "Sfn."}, "glue": {"Glue.", "Glue."},
	"ecs": {"ECS.", "Ecs."}, "athena": {"Athena.", "Athena."},
	"bedrockruntime": {"BedrockRuntime.", "BedrockRuntime."}, "bedrock": {"Bedrock", "Bedrock"}, // BedrockRuntime., too
	"kinesis": {"Kinesis.", "Kinesis."},
}

// prefixes are that of the errors which the call raises, and the one that it never does; empty when they are the same.
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

// misnamed is how an error would have to be written that has the prefix of the service's other kind of Resource; empty
// when it has not.
func (s *subject) misnamed(name string) string {
	own, other, known := s.prefixes()
	if !known || other == "" || !strings.HasPrefix(name, other) {
		return ""
	}
	return own + strings.TrimPrefix(name, other)
}

var serviceFaults = Rule{
	Code: "SERVICE_FAULTS_NOT_RETRIED", Severity: asl.SeverityWarning,
	Title: "a hiccup of the service that a task calls fails the state",
	Why: "Services throttle and connections break now and then. Retry the service's throttling and server errors and " +
		"its SdkClientException, or States.TaskFailed behind the permanent errors.",
	check: func(s *subject) {
		prefix, other, known := s.prefixes()
		if !known || s.lambda() {
			return
		}
		taken := s.retried(taskFailed) || s.retried(allErrors)
		s.active(func(_ int, x *asl.Retrier) {
			taken = taken || slices.ContainsFunc(x.ErrorEquals, func(name string) bool {
				// A name that is misspelt is one finding, which RETRIER_NEVER_MATCHES makes.
				return name == taskFailed || name == allErrors || strings.HasPrefix(name, prefix) ||
					other != "" && strings.HasPrefix(name, other) || s.service == "ecs" && strings.HasPrefix(name, "AmazonECS.")
			})
		})
		if !taken {
			s.found(s.in(source.Member("Retry")), nil,
				"retry its throttling, its server errors and "+strings.TrimSuffix(prefix, ".")+
					".SdkClientException, with jitter",
				"no retrier takes an error of %s: one throttled or broken call fails the state", s.named())
		}
	},
}

var httpCodes = Rule{
	Code: "HTTP_CODES", Severity: asl.SeverityWarning,
	Title: "the wrong answers of an HTTP endpoint are retried",
	Why: "Most 4xx answers stay what they are; 429, 503, 502, 504 and a broken connection " +
		"(States.Http.Socket) pass. Name the codes: States.Http.StatusCode.429 (Developer Guide, Call HTTPS APIs).",
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
						"an endpoint that answers %s answers it again", status)
				}
			}
		})
		missing := slices.DeleteFunc([]string{code + "429", code + "503", "States.Http.Socket"}, s.retried)
		if len(missing) > 0 {
			s.found(s.in(source.Member("Retry")), nil, "retry them with jitter",
				"%s passes, and nothing retries it", strings.Join(missing, ", "))
		}
	},
}

var taskFailedMissesTimeout = Rule{
	Code: "TASKFAILED_MISSES_TIMEOUT", Severity: asl.SeverityWarning,
	Title: "States.TaskFailed is retried, the state's timeout is not",
	Why: "States.TaskFailed matches every error of a task but States.Timeout (Developer Guide, Handling errors). A " +
		"state with TimeoutSeconds that retries only States.TaskFailed fails at its first timeout.",
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
				"States.TaskFailed leaves out States.Timeout, with which this state's timeout fails")
		}
	},
}

var functionTimeoutMissed = Rule{
	Code: "FUNCTION_TIMEOUT_MISSED", Severity: asl.SeverityWarning,
	Title: "the state's timeout is retried, the function's own is not",
	Why: "States.Timeout is the state's TimeoutSeconds. A function that reaches its own timeout fails with " +
		"Sandbox.Timedout, on older runtimes with Lambda.Unknown.",
	check: func(s *subject) {
		if !s.lambda() {
			return
		}
		i := slices.IndexFunc(s.Retry, func(x asl.Retrier) bool {
			return x.MaxAttempts > 0 && slices.Contains(x.ErrorEquals, statesTimeout)
		})
		missing := s.untaken([]string{retry.SandboxTimedout, retry.LambdaUnknown})
		if i >= 0 && len(missing) > 0 {
			quoted := `"` + strings.Join(missing, `", "`) + `"`
			s.found(s.retrier(i, "ErrorEquals"), s.r.append(s.retrier(i, "ErrorEquals"), quoted), "name them, too",
				"%s is how a function's own timeout ends, and nothing takes it", strings.Join(missing, ", "))
		}
	},
}
