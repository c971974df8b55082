package stepfunctions_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/logs/logstore"
	"stepback/local/services/stepfunctions"
)

const (
	role    = "arn:aws:iam::123456789012:role/r"
	pass    = `{"StartAt":"P","States":{"P":{"Type":"Pass","Result":{"a":1},"End":true}}}`
	waiting = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`
	failing = `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E","Cause":"C"}}}`
)

// newServer serves the API over engines in real time.
func newServer(t *testing.T) (url string) {
	t.Helper()
	url, _ = newLoggingServer(t)
	return url
}

// newLoggingServer is like newServer and also returns the store that executions log to.
func newLoggingServer(t *testing.T) (url string, groups *logstore.Store) {
	t.Helper()
	c, j, store := clock.Real(), journal.NewMemory(), stepfunctions.NewMemory()
	groups, err := logstore.Open(t.TempDir(), logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var made []*engine.Engine
	var service *stepfunctions.Service
	service = stepfunctions.New(stepfunctions.Config{
		Logs: groups,
		Open: func(s aws.Scope) (*engine.Engine, error) {
			e, err := engine.New(engine.Config{
				Clock: c, Journal: j, Region: s.Region, Account: s.Account, Activity: stepfunctions.HasActivity(store),
				Follow: service.Follow,
			})
			made = append(made, e)
			return e, err
		},
		Store: store, Now: c.Now, Default: scope,
	})
	server := httptest.NewServer(service.Handler())
	t.Cleanup(func() {
		server.Close()
		for _, e := range made {
			e.Close()
		}
		c.Close()
		_ = groups.Close()
	})
	return server.URL, groups
}

// client returns an SDK client of a server, for an account and a region.
func client(url, account, region string) *sfn.Client {
	return sfn.New(sfn.Options{
		BaseEndpoint: sdk.String(url), Region: region, Credentials: credentials.NewStaticCredentialsProvider(account,
			"secret", ""),
		RetryMaxAttempts: 1,
		// The SDK adds a prefix to the host of StartSyncExecution.
		APIOptions: []func(*middleware.Stack) error{func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("PlainHost",
				func(ctx context.Context, in middleware.InitializeInput,
					next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					return next.HandleInitialize(smithyhttp.SetHostnameImmutable(ctx, true), in)
				}), middleware.Before)
		}},
	})
}

func create(t *testing.T, c *sfn.Client, name, definition string, kind types.StateMachineType) *string {
	t.Helper()
	m, err := c.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: &name, Definition: &definition, RoleArn: sdk.String(role), Type: kind,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.StateMachineArn
}

// refused checks the type of an error.
func refused[E error](t *testing.T, err error, message string) {
	t.Helper()
	var e E
	if !errors.As(err, &e) || !strings.Contains(err.Error(), message) {
		t.Errorf("got %v, want a %T: %s", err, e, message)
	}
}

func TestSDKExecution(t *testing.T) {
	t.Parallel()
	c, ctx := client(newServer(t), "123456789012", "eu-west-1"), t.Context()
	machine := create(t, c, "m", pass, types.StateMachineTypeStandard)
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: sdk.String("x"),
		Input: sdk.String(`{"b":2}`)})
	if err != nil {
		t.Fatal(err)
	}
	if *x.ExecutionArn != "arn:aws:states:eu-west-1:123456789012:execution:m:x" ||
		time.Since(*x.StartDate) > time.Hour {
		t.Errorf("%s, %s", *x.ExecutionArn, x.StartDate)
	}
	d := ended(t, c, x.ExecutionArn)
	if d.Status != types.ExecutionStatusSucceeded || *d.Output != `{"a":1}` || *d.Input != `{"b":2}` {
		t.Errorf("%+v", d)
	}
	var events []types.HistoryEvent
	pages := sfn.NewGetExecutionHistoryPaginator(c, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn,
		MaxResults: 3, ReverseOrder: true})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, p.Events...)
	}
	if len(events) != 4 || events[0].Type != types.HistoryEventTypeExecutionSucceeded || events[3].Id != 1 {
		t.Errorf("%+v", events)
	}
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: sdk.String("x"),
		Input: sdk.String(`{"b":2}`)})
	refused[*types.ExecutionAlreadyExists](t, err, "Execution Already Exists: '"+*x.ExecutionArn+"'")
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: sdk.String(`{`)})
	refused[*types.InvalidExecutionInput](t, err,
		"Invalid State Machine Execution Input: 'Unexpected end-of-input: expected close marker for Object (start marker at [line: 1, column: 1])'")
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: sdk.String("")})
	refused[*types.InvalidExecutionInput](t, err,
		"Invalid State Machine Execution Input: 'No content to map due to end-of-input'")
	_, err = c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: sdk.String(*x.ExecutionArn + "y")})
	refused[*types.ExecutionDoesNotExist](t, err, "Execution Does Not Exist: '")
}

// ended waits for the end of an execution and returns its description.
func ended(t *testing.T, c *sfn.Client, arn *string) *sfn.DescribeExecutionOutput {
	t.Helper()
	for {
		d, err := c.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: arn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != types.ExecutionStatusRunning {
			return d
		}
	}
}

func TestSDKStopAndDelete(t *testing.T) {
	t.Parallel()
	c, ctx := client(newServer(t), "123456789012", "us-east-1"), t.Context()
	machine := create(t, c, "m", waiting, types.StateMachineTypeStandard)
	start := func(name string) *string {
		x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		return x.ExecutionArn
	}
	first, again, second := start("x"), start("x"), start("y")
	if *first != *again {
		t.Errorf("%s, %s: the same start twice", *first, *again)
	}
	if _, err := c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: first,
		Error: sdk.String("E")}); err != nil {
		t.Fatal(err)
	}
	if d := ended(t, c, first); d.Status != types.ExecutionStatusAborted || *d.Error != "E" || d.Cause != nil {
		t.Errorf("%+v", d)
	}
	l, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: machine,
		StatusFilter: types.ExecutionStatusRunning})
	if err != nil || len(l.Executions) != 1 || *l.Executions[0].ExecutionArn != *second {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := c.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: machine}); err != nil {
		t.Fatal(err)
	}
	ended(t, c, second)
	_, err = c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: machine})
	refused[*types.StateMachineDoesNotExist](t, err, "State Machine Does Not Exist: '"+*machine+"'")
}

func TestSDKExpress(t *testing.T) {
	t.Parallel()
	c, ctx := client(newServer(t), "123456789012", "us-east-1"), t.Context()
	sync := func(machine *string) *sfn.StartSyncExecutionOutput {
		x, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: machine})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := sync(create(t, c, "good", pass,
		types.StateMachineTypeExpress)); x.Status != types.SyncExecutionStatusSucceeded || *x.Output != `{"a":1}` ||
		x.BillingDetails.BilledMemoryUsedInMB != 64 {
		t.Errorf("%+v", x)
	}
	if x := sync(create(t, c, "bad", failing,
		types.StateMachineTypeExpress)); x.Status != types.SyncExecutionStatusFailed || *x.Error != "E" ||
		*x.Cause != "C" || x.Output != nil {
		t.Errorf("%+v", x)
	}
	machine := create(t, c, "standard", pass, types.StateMachineTypeStandard)
	_, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: machine})
	refused[*types.StateMachineTypeNotSupported](t, err, "not supported by this type")
}

func TestSDKScopesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	url := newServer(t)
	machine := create(t, client(url, "111111111111", "us-east-1"), "m", pass, types.StateMachineTypeStandard)
	for _, s := range []aws.Scope{{Account: "222222222222", Region: "us-east-1"}, {Account: "111111111111",
		Region: "eu-west-1"}} {
		c := client(url, s.Account, s.Region)
		_, err := c.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: machine})
		refused[*types.StateMachineDoesNotExist](t, err, *machine)
		l, err := c.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
		if err != nil || len(l.StateMachines) != 0 {
			t.Errorf("%+v, %v", l, err)
		}
	}
}

func TestSDKPagesOfMachines(t *testing.T) {
	t.Parallel()
	c := client(newServer(t), "123456789012", "us-east-1")
	for i := range 5 {
		create(t, c, fmt.Sprintf("m%d", i), pass, types.StateMachineTypeStandard)
	}
	var names []string
	pages := sfn.NewListStateMachinesPaginator(c, &sfn.ListStateMachinesInput{MaxResults: 2})
	for pages.HasMorePages() {
		p, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range p.StateMachines {
			names = append(names, *m.Name)
		}
	}
	if strings.Join(names, " ") != "m0 m1 m2 m3 m4" {
		t.Errorf("%v", names)
	}
	_, err := c.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{NextToken: sdk.String("nonsense")})
	refused[*types.InvalidToken](t, err, "Invalid Token: 'Invalid token'")
}

func TestSDKVersionsAndAliases(t *testing.T) {
	t.Parallel()
	c, ctx := client(newServer(t), "123456789012", "us-east-1"), t.Context()
	machine := create(t, c, "m", pass, types.StateMachineTypeStandard)
	v, err := c.PublishStateMachineVersion(ctx, &sfn.PublishStateMachineVersionInput{StateMachineArn: machine,
		RevisionId: sdk.String("INITIAL")})
	if err != nil || *v.StateMachineVersionArn != *machine+":1" {
		t.Fatalf("%+v, %v", v, err)
	}
	route := func(weights ...int32) []types.RoutingConfigurationListItem {
		var list []types.RoutingConfigurationListItem
		for _, w := range weights {
			list = append(list, types.RoutingConfigurationListItem{StateMachineVersionArn: v.StateMachineVersionArn,
				Weight: w})
		}
		return list
	}
	_, err = c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{Name: sdk.String("live"),
		RoutingConfiguration: route(70, 29)})
	refused[*types.ValidationException](t, err,
		"Sum of routing configuration weights must equal 100. Received: [70, 29]")
	a, err := c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{Name: sdk.String("live"),
		RoutingConfiguration: route(100)})
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: a.StateMachineAliasArn})
	if err != nil {
		t.Fatal(err)
	}
	d := ended(t, c, x.ExecutionArn)
	if *d.StateMachineArn != *machine || *d.StateMachineAliasArn != *machine+":live" ||
		*d.StateMachineVersionArn != *machine+":1" {
		t.Errorf("%+v", d)
	}
	_, err = c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: sdk.String("m"),
		Definition: sdk.String(waiting), RoleArn: sdk.String(role)})
	refused[*types.StateMachineAlreadyExists](t, err, "State Machine Already Exists: '"+*machine+"'")
}

func TestSDKMapRun(t *testing.T) {
	t.Parallel()
	c, ctx := client(newServer(t), "123456789012", "us-east-1"), t.Context()
	machine := create(t, c, "m", `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"End":true,"ItemProcessor":{`+
		`"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}}}}`,
		types.StateMachineTypeStandard)
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: sdk.String(`[1,2,3]`)})
	if err != nil {
		t.Fatal(err)
	}
	run := mapRunWith(t, c, x.ExecutionArn, 1)
	if _, err := c.UpdateMapRun(ctx, &sfn.UpdateMapRunInput{MapRunArn: run, MaxConcurrency: sdk.Int32(2)}); err != nil {
		t.Fatal(err)
	}
	mapRunWith(t, c, x.ExecutionArn, 2)
	l := &sfn.ListExecutionsOutput{}
	for len(l.Executions) < 2 && ctx.Err() == nil { // a child is counted before it is in the journal
		if l, err = c.ListExecutions(ctx, &sfn.ListExecutionsInput{MapRunArn: run}); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.Executions) != 2 || *l.Executions[0].MapRunArn != *run || *l.Executions[0].StateMachineArn != *machine+
		"/M" {
		t.Errorf("%+v", l.Executions)
	}
	if _, err := c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: x.ExecutionArn}); err != nil {
		t.Fatal(err)
	}
	for {
		d, err := c.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: run})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status == types.MapRunStatusRunning {
			continue
		}
		if d.Status != types.MapRunStatusAborted || d.ItemCounts.Aborted != 2 || d.ItemCounts.Pending != 1 ||
			d.MaxConcurrency != 2 {
			t.Errorf("%+v %+v", d, d.ItemCounts)
		}
		break
	}
	_, err = c.UpdateMapRun(ctx, &sfn.UpdateMapRunInput{MapRunArn: run, MaxConcurrency: sdk.Int32(3)})
	refused[*types.ValidationException](t, err, "already complete")
}

// mapRunWith waits until an execution's Map Run has the given number of running child executions.
func mapRunWith(t *testing.T, c *sfn.Client, execution *string, running int64) *string {
	t.Helper()
	for t.Context().Err() == nil {
		l, err := c.ListMapRuns(t.Context(), &sfn.ListMapRunsInput{ExecutionArn: execution})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.MapRuns) == 0 {
			continue
		}
		d, err := c.DescribeMapRun(t.Context(), &sfn.DescribeMapRunInput{MapRunArn: l.MapRuns[0].MapRunArn})
		if err != nil {
			t.Fatal(err)
		}
		if d.ExecutionCounts.Running == running {
			return l.MapRuns[0].MapRunArn
		}
	}
	t.Fatal(t.Context().Err())
	return nil
}
