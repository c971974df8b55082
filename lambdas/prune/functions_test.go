package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

const (
	testMachine = "arn:aws:states:eu-west-1:123456789012:stateMachine:csv"
	testFiles   = "arn:aws:states:eu-west-1:123456789012:stateMachine:csv-files"
	testNow     = "2026-11-27T12:00:00Z"
)

// testAccount has state machines with their versions and executions, and functions with their versions.
type testAccount struct {
	// definitions are keyed by the ARN of a state machine, of a version, or of an execution.
	definitions map[string]string
	// versions are the ARNs of the versions of a state machine, newest first, keyed by its ARN.
	versions map[string][]string
	// executions are keyed by the ARN of the state machine.
	executions map[string]map[sfntypes.ExecutionStatus][]sfntypes.ExecutionListItem
	// functions are the numbers of versions of each function.
	functions map[string]int
	// aliased is a version of a function that an alias points at.
	aliased string
	// fails is an operation that fails.
	fails string
	// locked is a state machine whose versions cannot be deleted.
	locked string
	// asked are the executions whose definitions were read.
	asked []string
}

func (a *testAccount) failing(operation string) error {
	if a.fails == operation {
		return errors.New(operation + " failed")
	}
	return nil
}

func (a *testAccount) DescribeStateMachine(
	_ context.Context,
	in *sfn.DescribeStateMachineInput,
	_ ...func(*sfn.Options),
) (*sfn.DescribeStateMachineOutput, error) {
	return &sfn.DescribeStateMachineOutput{
			Definition: aws.String(a.definitions[*in.StateMachineArn]),
		}, a.failing(
			"DescribeStateMachine",
		)
}

func (a *testAccount) DescribeStateMachineForExecution(_ context.Context, in *sfn.DescribeStateMachineForExecutionInput,
	_ ...func(*sfn.Options)) (*sfn.DescribeStateMachineForExecutionOutput, error) {
	a.asked = append(a.asked, *in.ExecutionArn)
	return &sfn.DescribeStateMachineForExecutionOutput{Definition: aws.String(a.definitions[*in.ExecutionArn])},
		a.failing("DescribeStateMachineForExecution")
}

func (a *testAccount) ListExecutions(_ context.Context, in *sfn.ListExecutionsInput, _ ...func(*sfn.Options),
) (*sfn.ListExecutionsOutput, error) {
	if in.StatusFilter == sfntypes.ExecutionStatusPendingRedrive { // the API reference of ListExecutions, statusFilter
		return nil, errors.New("ValidationException: PENDING_REDRIVE needs a mapRunArn")
	}
	all, at := a.executions[*in.StateMachineArn][in.StatusFilter], 0
	if in.NextToken != nil {
		at, _ = strconv.Atoi(*in.NextToken)
	}
	if at >= len(all) {
		return &sfn.ListExecutionsOutput{}, a.failing("ListExecutions")
	}
	return &sfn.ListExecutionsOutput{
			Executions: all[at : at+1],
			NextToken:  aws.String(strconv.Itoa(at + 1)),
		}, a.failing(
			"ListExecutions",
		)
}

func (a *testAccount) ListStateMachineVersions(
	_ context.Context,
	in *sfn.ListStateMachineVersionsInput,
	_ ...func(*sfn.Options),
) (*sfn.ListStateMachineVersionsOutput, error) {
	out := &sfn.ListStateMachineVersionsOutput{}
	for _, v := range a.versions[*in.StateMachineArn] {
		out.StateMachineVersions = append(out.StateMachineVersions,
			sfntypes.StateMachineVersionListItem{StateMachineVersionArn: &v})
	}
	return out, nil
}

func (a *testAccount) DeleteStateMachineVersion(
	_ context.Context,
	in *sfn.DeleteStateMachineVersionInput,
	_ ...func(*sfn.Options),
) (*sfn.DeleteStateMachineVersionOutput, error) {
	if strings.HasPrefix(*in.StateMachineVersionArn, a.locked+":") {
		return nil, errors.New(a.locked + " is locked")
	}
	return &sfn.DeleteStateMachineVersionOutput{}, nil
}

func (a *testAccount) ListVersionsByFunction(
	_ context.Context,
	in *lambda.ListVersionsByFunctionInput,
	_ ...func(*lambda.Options),
) (*lambda.ListVersionsByFunctionOutput, error) {
	half := a.functions[*in.FunctionName]/2 + 1
	out := &lambda.ListVersionsByFunctionOutput{}
	from, to := 1, half
	if in.Marker == nil {
		out.NextMarker = aws.String("rest")
		out.Versions = []types.FunctionConfiguration{{Version: aws.String("$LATEST")}}
	} else {
		from, to = half+1, a.functions[*in.FunctionName]
	}
	for n := from; n <= to; n++ {
		out.Versions = append(out.Versions, types.FunctionConfiguration{Version: aws.String(strconv.Itoa(n))})
	}
	return out, nil
}

func (a *testAccount) DeleteFunction(_ context.Context, in *lambda.DeleteFunctionInput, _ ...func(*lambda.Options),
) (*lambda.DeleteFunctionOutput, error) {
	if *in.FunctionName+":"+*in.Qualifier == a.aliased {
		return nil, &types.ResourceConflictException{}
	}
	return &lambda.DeleteFunctionOutput{}, nil
}

// calls returns a definition that calls versions of functions.
func calls(versions ...string) string {
	var b strings.Builder
	for _, v := range versions {
		fmt.Fprintf(&b, `{"FunctionName":"arn:aws:lambda:eu-west-1:123456789012:function:%s"}`, v)
	}
	return b.String()
}

func newTestAccount() *testAccount {
	day := func(n int) *time.Time {
		t, _ := time.Parse(time.RFC3339, testNow)
		t = t.AddDate(0, 0, -n)
		return &t
	}
	of := func(machine, name, version string, stopped *time.Time) sfntypes.ExecutionListItem {
		e := sfntypes.ExecutionListItem{ExecutionArn: &name, StopDate: stopped}
		if version != "" {
			e.StateMachineVersionArn = aws.String(machine + ":" + version)
		}
		return e
	}
	execution := func(name, version string, stopped *time.Time) sfntypes.ExecutionListItem {
		return of(testMachine, name, version, stopped)
	}
	return &testAccount{
		versions: map[string][]string{testMachine: {testMachine + ":9", testMachine + ":8"}, testFiles: {testFiles + ":3"}},
		definitions: map[string]string{
			testMachine:        calls("process:9", "validate:2"),
			testMachine + ":9": calls("process:8", "validate:2"),
			testMachine + ":8": calls("process:7", "validate:1"),
			"running":          calls("process:3"),
			"redrivable":       calls("process:5"),
			"again":            calls("process:5"),
			"kept version":     calls("process:4"), // not asked for: its version exists
			"too old":          calls("process:2"),
			"unversioned":      calls("process:1"),
			testFiles:          calls("files:9"),
			testFiles + ":3":   calls("files:8"),
			"many files":       calls("files:2"), // it started with the version 2 of its state machine, two weeks ago
			"ended":            calls("files:3"),
		},
		executions: map[string]map[sfntypes.ExecutionStatus][]sfntypes.ExecutionListItem{testFiles: {
			sfntypes.ExecutionStatusRunning: {of(testFiles, "many files", "2", nil)},
			sfntypes.ExecutionStatusFailed:  {of(testFiles, "ended", "1", day(15))},
		}, testMachine: {
			sfntypes.ExecutionStatusRunning: {
				execution("running", "3", nil),
				execution("kept version", "8", nil),
				execution("unversioned", "", nil),
			},
			sfntypes.ExecutionStatusTimedOut: {
				execution("redrivable", "5", day(13)),
				execution("again", "5", day(13)),
				execution("too old", "2", day(15)),
			},
		}},
		functions: map[string]int{"process": 14, "validate": 2, "files": 9},
		aliased:   "process:6",
	}
}

// TestVersionsInUseAreKept: versions are deleted that no definition calls, no execution that runs or can be redriven,
// no alias, and that are not among the newest five.
func TestVersionsInUseAreKept(t *testing.T) {
	t.Parallel()
	a := newTestAccount()
	now, _ := time.Parse(time.RFC3339, testNow)
	deleted, err := pruneFunctions(t.Context(), a, a, []string{testMachine, testFiles}, []string{"process", "validate", "files"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"process:2", "process:4", "files:1", "files:3", "files:4"}; !slices.Equal(deleted, want) {
		t.Errorf("deleted %q, want %q", deleted, want)
	}
	if want := []string{"running", "unversioned", "redrivable", "many files"}; !slices.Equal(a.asked, want) {
		t.Errorf("read the definitions of %q, want %q", a.asked, want)
	}
}

// TestNothingIsDeletedUnlessAllUsesAreKnown: if a call fails, no version is deleted.
func TestNothingIsDeletedUnlessAllUsesAreKnown(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"DescribeStateMachine", "DescribeStateMachineForExecution", "ListExecutions"} {
		a := newTestAccount()
		a.fails = operation
		deleted, err := pruneFunctions(t.Context(), a, a, []string{testMachine}, []string{"process"}, time.Now())
		if err == nil || len(deleted) > 0 {
			t.Errorf("%s fails: deleted %q, %v", operation, deleted, err)
		}
	}
}

// TestEachStateMachineIsPruned: old versions of both state machines are deleted, and those of one although those of the
// other cannot be.
func TestEachStateMachineIsPruned(t *testing.T) {
	t.Parallel()
	a := newTestAccount()
	for _, machine := range []string{testMachine, testFiles} {
		a.versions[machine] = nil
		for n := 102; n > 0; n-- {
			a.versions[machine] = append(a.versions[machine], fmt.Sprint(machine, ":", n))
		}
	}
	now, _ := time.Parse(time.RFC3339, testNow)
	got, err := prune(t.Context(), a, a, []string{testMachine, testFiles}, []string{"validate"}, now)
	want := []string{testMachine + ":2", testMachine + ":1", testFiles + ":2", testFiles + ":1"}
	if err != nil || !slices.Equal(got.StateMachines, want) {
		t.Errorf("deleted %q, want %q (%v)", got.StateMachines, want, err)
	}
	a.locked = testMachine
	got, err = prune(t.Context(), a, a, []string{testMachine, testFiles}, []string{"process"}, now)
	if err == nil || !slices.Equal(got.StateMachines, want[2:]) || len(got.Functions) == 0 {
		t.Errorf("with the versions of the import locked, %q and %q are deleted (%v)", got.StateMachines, got.Functions, err)
	}
}
