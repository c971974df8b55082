package executions_test

import (
	"net/http/httptest"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/wiretest"
	"stepback/tasks/awssdk"
	"stepback/tasks/mock"
)

const (
	mocks = `{
	  "StateMachines": {"m": {"TestCases": {"Happy": {"T": "Answer"}}}},
	  "MockedResponses": {"Answer": {"0": {"Return": {"a": 1}}}}
	}`
	calling = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::ecs:runTask","Parameters":{"TaskDefinition":"t"},"End":true}}}`
	outer   = `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:sfn:startSyncExecution",` +
		`"Parameters":{"StateMachineArn":"arn:aws:states:us-east-1:123456789012:stateMachine:m#Happy"},"OutputPath":"$.Output","End":true}}}`
)

// mockedServer serves the API with test cases and returns a client.
func mockedServer(t *testing.T) *sfn.Client {
	t.Helper()
	config, err := mock.Parse([]byte(mocks))
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Real()
	caller := &awssdk.Caller{Account: wiretest.Scope.Account, Region: wiretest.Scope.Region}
	integrations, _ := awssdk.Integrations(caller)
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Region: wiretest.Scope.Region,
		Account: wiretest.Scope.Account, Mocks: config.Execution,
		Integrations: integrations,
	})
	if err != nil {
		t.Fatal(err)
	}
	service := stepfunctions.New(stepfunctions.Config{
		Open: func(aws.Scope) (*engine.Engine, error) { return e, nil }, Store: stepfunctions.NewMemory(),
		Now: c.Now, Default: wiretest.Scope,
		TestCases: true,
	})
	caller.Endpoints.Embedded = map[string]awssdk.Endpoint{"sfn": {URL: loopback.URL,
		Client: loopback.Client(service.Handler())}}
	server := httptest.NewServer(service.Handler())
	t.Cleanup(func() {
		server.Close()
		e.Close()
		c.Close()
	})
	return wiretest.Client(server.URL, wiretest.Scope.Account, wiretest.Scope.Region)
}

func TestTestCase(t *testing.T) {
	t.Parallel()
	c := mockedServer(t)
	m := wiretest.Create(t, c, "m", calling, types.StateMachineTypeExpress)
	x, err := c.StartSyncExecution(t.Context(),
		&sfn.StartSyncExecutionInput{StateMachineArn: sdk.String(*m + "#Happy")})
	if err != nil {
		t.Fatal(err)
	}
	if sdk.ToString(x.Output) != `{"a":1}` || sdk.ToString(x.StateMachineArn) != *m {
		t.Errorf("%s of %s", sdk.ToString(x.Output), sdk.ToString(x.StateMachineArn))
	}
	_, err = c.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: sdk.String(*m + "#Sad")})
	wiretest.Refused[*types.ValidationException](t, err,
		"no such test case: the mock configuration has no test case Sad of the state machine m; it has Happy")
}

// An execution that a task starts has its own test case.
func TestTestCaseOfANestedExecution(t *testing.T) {
	t.Parallel()
	c := mockedServer(t)
	wiretest.Create(t, c, "m", calling, types.StateMachineTypeExpress)
	m := wiretest.Create(t, c, "outer", outer, types.StateMachineTypeExpress)
	x, err := c.StartSyncExecution(t.Context(), &sfn.StartSyncExecutionInput{StateMachineArn: m})
	if err != nil {
		t.Fatal(err)
	}
	if got := sdk.ToString(x.Output); got != `"{\"a\":1}"` {
		t.Errorf("%s; %s %s", got, sdk.ToString(x.Error), sdk.ToString(x.Cause))
	}
}

func TestTestCaseWithoutMocks(t *testing.T) {
	t.Parallel()
	c := wiretest.Client(wiretest.Server(t), wiretest.Scope.Account, wiretest.Scope.Region)
	m := wiretest.Create(t, c, "m", wiretest.Pass, types.StateMachineTypeStandard)
	_, err := c.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: sdk.String(*m + "#Happy")})
	wiretest.Refused[*types.StateMachineDoesNotExist](t, err, "#Happy")
}
