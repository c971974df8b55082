package local

import (
	"context"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/internal/outbound"
	"stepback/local/tracing"
	"stepback/tasks/awssdk"
	"stepback/tasks/faults"
	"stepback/tasks/httptask"
	"stepback/tasks/jobs"
	"stepback/tasks/kubernetes"
	"stepback/tasks/lambda"
	"stepback/tasks/lambda/invocation"
	"stepback/tasks/mock"
	"stepback/tasks/states"
)

// surroundings holds what tasks use outside their engine.
type surroundings struct {
	endpoints awssdk.Endpoints
	mocks     *mock.File // nil if there are no test cases
	// connections belongs to the embedded EventBridge, which stores their secrets itself; nil if there is none.
	connections httptask.Connections
	// guard authorizes tasks by the roles of their state machines; nil if IAM is not enforced.
	guard *guard
	// targets refuses addresses that HTTP Tasks and calls of clusters name; nil allows all.
	targets *outbound.Policy
	// tracer makes tasks propagate the traces of their executions; nil for none.
	tracer *tracing.Tracer
}

func newSurroundings(getenv func(string) string, mocks *mock.File) *surroundings {
	return &surroundings{mocks: mocks,
		endpoints: awssdk.Endpoints{Getenv: getenv, Embedded: map[string]awssdk.Endpoint{}}}
}

// testCases returns a function that finds the mocks of a test case; nil if no mock configuration is loaded.
func (s *surroundings) testCases() func(machine, testCase string) (engine.Interceptor, error) {
	if s.mocks == nil {
		return nil
	}
	return s.mocks.Execution
}

// embed makes a handler in this process the default endpoint of a service, which is identified by its name in aws-sdk
// Resources.
func (s *surroundings) embed(service string, h http.Handler) {
	s.endpoints.Embedded[service] = awssdk.Endpoint{URL: loopback.URL, Client: loopback.Client(h)}
}

// reach sets the default endpoint of a service to a URL.
func (s *surroundings) reach(service, url string) {
	s.endpoints.Embedded[service] = awssdk.Endpoint{URL: url, Client: http.DefaultClient}
}

// integrations returns the integrations for the tasks of an account and region: functions through the invoker, nested
// executions of the same engine (await waits for one), and all other services at their endpoints.
func (s *surroundings) integrations(
	scope aws.Scope, injector *faults.Injector, invoker invocation.Invoker, c *clock.Clock,
	await func(ctx context.Context, t *engine.Task, arn string) error,
) *engine.Integrations {
	caller := &awssdk.Caller{Account: scope.Account, Region: scope.Region, Endpoints: s.endpoints}
	all, start := awssdk.Integrations(caller)
	all.Wrap(func(name string, in engine.Integration) engine.Integration {
		if api, ok := in.(jobs.API); ok {
			return jobs.Wait(strings.TrimSuffix(name, ":*"), api, c)
		}
		return in
	})
	if !s.endpoints.Embeds("sfn") {
		await = states.Poll(start, c)
	}
	all.Handle("states", "startExecution", states.Integration{API: start, Await: await})
	calls := &httptask.Integration{Region: scope.Region, Transport: s.targets.Transport()}
	switch {
	case s.connections != nil && s.endpoints.Embeds("eventbridge"):
		calls.Connections = s.connections
	case s.endpoints.Has("eventbridge"): // otherwise requests are sent without the connection's authorization
		calls.Connections = httptask.EventBridge{AWS: caller}
	}
	all.Handle("http", "invoke", s.guard.httpTasks(calls))
	all.Handle("apigateway", "invoke", &httptask.Gateway{
		Endpoint: func() string { return s.endpoints.Getenv("APIGATEWAY_ENDPOINT") },
		Sign: func(ctx context.Context, r *http.Request, body string) error {
			return caller.Sign(ctx, r, body, "execute-api")
		},
	})
	cluster := &kubernetes.API{
		Endpoint: func() string { return s.endpoints.Getenv("KUBERNETES_ENDPOINT") }, Token: caller.ClusterToken,
		Targets: s.targets,
	}
	all.Handle("eks", "call", kubernetes.Call{API: cluster})
	all.Handle("eks", "runJob", jobs.Wait("eks:runJob", kubernetes.Job{API: cluster}, c))
	invoker = s.guard.invoker(scope, invoker)
	all.Wrap(func(_ string, in engine.Integration) engine.Integration {
		return injector.Tasks(in, "ThrottlingException")
	})
	all.Handle("lambda", "invoke", lambda.Integration{Invoker: invoker})
	all.HandleFunctions(lambda.Function{Invoker: invoker})
	all.Wrap(func(_ string, in engine.Integration) engine.Integration {
		in = s.guard.tasks(in)
		if s.tracer != nil {
			in = s.tracer.Tasks(in)
		}
		return in
	})
	return all
}
