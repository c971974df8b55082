package mapitems_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws/objects"
	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/mapitems"
	"stepback/outbox/deadletters/s3documents"
)

const role = "arn:aws:iam::000000000000:role/r"

// halves is a state machine whose Map fails for items that the function cannot halve.
const halves = `{"StartAt":"All","States":{"All":{"Type":"Map","Label":"Halves","End":true,"ItemsPath":"$.items",
 "ToleratedFailurePercentage":%d,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
 "StartAt":"Halve","States":{"Halve":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
 "Parameters":{"FunctionName":"halve","Payload.$":"$"},"OutputPath":"$.Payload","End":true}}}}}}`

// desk is an operator of a platform with a function that refuses odd numbers, or none once it is fixed.
type desk struct {
	*deadletters.Operator
	states *sfn.Client
	mended chan struct{}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return newDeskAt(t, nil)
}

// newDeskAt returns a desk on a platform with the given clock; nil means real time.
func newDeskAt(t *testing.T, c *clock.Clock) *desk {
	t.Helper()
	d := &desk{mended: make(chan struct{})}
	p, err := local.Open(t.Context(), local.Config{Clock: c, BuiltIn: map[string]functions.BuiltIn{
		"halve": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: func(n int) (float64, error) {
				select {
				case <-d.mended:
				default:
					if n%2 == 1 {
						return 0, fmt.Errorf("%d is odd", n)
					}
				}
				return float64(n) / 2, nil
			}}, nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "halve", BuiltIn: "halve", Role: role,
		Timeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	settings := aws.Config{Region: "us-east-1", BaseEndpoint: &p.Endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	d.states = sfn.NewFromConfig(settings)
	if err := p.Objects.CreateBucket("record"); err != nil {
		t.Fatal(err)
	}
	d.Operator = &deadletters.Operator{Who: "ann", Store: &deadletters.SourceStore{
		Source: &mapitems.Items{Client: d.states}, Documents: &s3documents.Documents{Store: objects.Local(p.Endpoint, "us-east-1"), Bucket: "record"}}}
	return d
}

// run executes a state machine until it ends.
func (d *desk) run(t *testing.T, tolerated int, items string) *sfn.DescribeExecutionOutput {
	t.Helper()
	return d.runDefinition(t, fmt.Sprint("halves-", tolerated), fmt.Sprintf(halves, tolerated), items)
}

func (d *desk) runDefinition(t *testing.T, name, definition, items string) *sfn.DescribeExecutionOutput {
	t.Helper()
	m, err := d.states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: &name, Definition: &definition,
		RoleArn: aws.String(role)})
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.states.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn,
		Input: aws.String(`{"items":` + items + `}`)})
	if err != nil {
		t.Fatal(err)
	}
	return d.wait(t, x.ExecutionArn)
}

func (d *desk) wait(t *testing.T, arn *string) *sfn.DescribeExecutionOutput {
	t.Helper()
	for {
		out, err := d.states.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: arn})
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != types.ExecutionStatusRunning && out.Status != types.ExecutionStatusPendingRedrive {
			return out
		}
		timer := time.NewTimer(time.Millisecond)
		select {
		case <-timer.C:
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		}
	}
}

func (d *desk) letters(t *testing.T) []deadletters.Letter {
	t.Helper()
	page, err := d.Store.List(t.Context(), deadletters.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Letters
}

// all redrives the given letters, or all of them, and waits for their outcomes.
func (d *desk) all(t *testing.T, ids ...string) map[deadletters.State]int {
	t.Helper()
	chosen := deadletters.Selection{IDs: ids, Filter: &deadletters.Filter{}}
	var done []string
	if err := d.Redrive(t.Context(), chosen, deadletters.Pace{}, "", func(r deadletters.Result) error {
		done = append(done, r.ID)
		return r.Err
	}); err != nil {
		t.Fatal(err)
	}
	came := map[deadletters.State]int{}
	if err := d.Follow(t.Context(), done, time.Millisecond, func(l deadletters.Letter) error {
		came[l.State]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return came
}

// TestAllThatFailedIsRedrivenWithItsExecution: redriving all failed items redrives the execution and its Map Run.
func TestAllThatFailedIsRedrivenWithItsExecution(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	x := d.run(t, 99, "[2,3,4,5]")
	if x.Status != types.ExecutionStatusSucceeded {
		t.Fatalf("%s %s", x.Status, aws.ToString(x.Cause))
	}
	failed := d.run(t, 0, "[1,1,1]")
	if failed.Status != types.ExecutionStatusFailed {
		t.Fatal(failed.Status)
	}
	var of []string
	for _, l := range d.letters(t) {
		if l.Execution == aws.ToString(failed.ExecutionArn) && l.Reason != "ABORTED" {
			if l.Error == "" || !strings.Contains(l.Cause, "1 is odd") || string(l.Payload) != "1" || l.Attempts != 1 {
				t.Errorf("%+v", l)
			}
		}
		if l.Execution == aws.ToString(failed.ExecutionArn) {
			of = append(of, l.ID)
		}
	}
	if len(of) == 0 {
		t.Fatal("there are no letters")
	}
	if came := d.all(t, of...); came[deadletters.Dead] == 0 {
		t.Errorf("redriven before anything was mended: %v", came)
	}
	close(d.mended)
	of = nil
	for _, l := range d.letters(t) {
		if l.Execution == aws.ToString(failed.ExecutionArn) {
			of = append(of, l.ID)
		}
	}
	if came := d.all(t, of...); came[deadletters.Delivered] != len(of) {
		t.Errorf("%v of %d", came, len(of))
	}
	if x := d.wait(t, failed.ExecutionArn); x.Status != types.ExecutionStatusSucceeded ||
		aws.ToString(x.Output) != "[0.5,0.5,0.5]" || aws.ToInt32(x.RedriveCount) != 2 {
		t.Errorf("%s %s after %d redrives", x.Status, aws.ToString(x.Output), aws.ToInt32(x.RedriveCount))
	}
}

// The letter of an item has the attempts of the task that failed, and those of a redrive in addition.
func TestALetterHasTheAttemptsOfItsTask(t *testing.T) {
	t.Parallel()
	d := newDeskAt(t, clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)))
	definition := strings.Replace(fmt.Sprintf(halves, 99), `"OutputPath"`,
		`"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":1,"MaxAttempts":2}],"OutputPath"`, 1)
	d.runDefinition(t, "retried", definition, "[2,3]")
	left := d.letters(t)
	if len(left) != 1 || left[0].Attempts != 3 {
		t.Fatalf("%+v, want one letter with 3 attempts", left)
	}
	if l, err := d.Store.Show(t.Context(), left[0].ID); err != nil || l.Attempts != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestASingleOrEditedItemRunsOnItsOwn fixes the input of one of two items.
func TestASingleOrEditedItemRunsOnItsOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(t, 99, "[2,3,4,5]")
	left := d.letters(t)
	if len(left) != 2 {
		t.Fatalf("%+v", left)
	}
	bad := func(id, payload string) {
		if err := d.Edit(t.Context(), id, []byte(payload), ""); err == nil {
			t.Errorf("the input %s was taken", payload)
		}
	}
	bad(left[0].ID, `{`)
	bad(left[0].ID, `"`+strings.Repeat("x", 300<<10)+`"`)
	if err := d.Edit(t.Context(), left[0].ID, []byte("6"), "an even one"); err != nil {
		t.Fatal(err)
	}
	if came := d.all(t, left[0].ID); came[deadletters.Delivered] != 1 {
		t.Errorf("%v", came)
	}
	l, err := d.Store.Show(t.Context(), left[0].ID)
	if err != nil || !strings.Contains(l.Execution, "-items-") || string(l.Sent()) != "6" {
		t.Fatalf("%+v, %v", l, err)
	}
	if x := d.wait(t, &l.Execution); aws.ToString(x.Output) != "3" {
		t.Errorf("its output is %s", aws.ToString(x.Output))
	}
	if left = d.letters(t); len(left) != 1 {
		t.Fatalf("%+v", left)
	}
	if came := d.all(t, left[0].ID); came[deadletters.Dead] != 1 { // it is still odd
		t.Errorf("%v", came)
	}
	close(d.mended)
	if came := d.all(t); came[deadletters.Delivered] != 1 {
		t.Errorf("%v", came)
	}
	if _, err := d.Store.Show(t.Context(), "arn:aws:states:us-east-1:000000000000:execution:a/b:c"); !errors.Is(err,
		deadletters.ErrNotFound) {
		t.Error(err)
	}
}
