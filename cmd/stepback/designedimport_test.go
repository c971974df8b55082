package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/cmd/stepback/exit"
)

// The problem of the designed import: items and concurrency are those of the deployed Map; the callee is fitted to the
// histories.
const importProblem = `
design: 1
name: csv-import
state: ApplyBatch
map: {items: 1000, concurrency: %d}
call: {timeout: 60, memory: 1024}
faults: [{name: outage, for: [15, 30], errors: 1, error: Lambda.ServiceException}]
objective: {saved: 0.99, within: 300}
period: 300
allow: []
`

// TestDesignedImport designs the Retry block of the CSV import from its own histories, and deploys it: the laptop
// environment imports a file, retries design fits the function ApplyBatch and writes the definition, imports run under
// that definition in calm weather and through an outage of random begin and length, and retries analyze compares them
// with the predictions. make design-trial sets STEPBACK_DESIGN; STEPBACK_SEED repeats a draw.
func TestDesignedImport(t *testing.T) {
	t.Parallel()
	if os.Getenv("STEPBACK_DESIGN") == "" {
		t.Skip("it takes minutes, Node.js, npm and PostgreSQL: make design-trial runs it")
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("STEPBACK_SEED"), strconv.FormatInt(time.Now().Unix(), 10)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("STEPBACK_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	l := newLaptop(t)
	l.begin()
	l.put("/stepback/laptop/database", l.database)
	l.cdk(0, "bootstrap", "aws://000000000000/us-east-1")
	l.cdk(0, "deploy", laptopStack)

	file := filepath.Join(l.work, "a.csv")
	asProcess(t, "sample", "--rows", "250000", "--seed", "7", "-o", file).ends(t, exit.OK)
	l.upload(laptopStack, file, "uploads/a.csv")
	states := sfn.NewFromConfig(l.config())
	own := l.output(laptopStack, "StateMachineArn")
	l.until(10*time.Minute, "the first import has ended", func() bool { return l.succeeded(own) == 1 })
	first := l.execution(laptopStack)
	for i, began := 0, time.Now(); time.Since(began) < 90*time.Second; i++ { // a fit needs more than a minute
		l.upload(laptopStack, file, fmt.Sprintf("uploads/%d.csv", i))
		l.until(10*time.Minute, "a further import has ended", func() bool { return l.succeeded(own) == i+2 })
	}
	was, err := states.DescribeStateMachineForExecution(t.Context(),
		&sfn.DescribeStateMachineForExecutionInput{ExecutionArn: first.ExecutionArn})
	if err != nil {
		t.Fatal(err)
	}
	input, err := states.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: first.ExecutionArn})
	if err != nil {
		t.Fatal(err)
	}

	problem, definition, designed := filepath.Join(l.work, "import.yaml"), filepath.Join(l.work, "import.asl.json"),
		filepath.Join(l.work, "import.design.json")
	for path, text := range map[string]string{problem: fmt.Sprintf(importProblem, concurrencyAround(t, *was.Definition, "ApplyBatch")), definition: *was.Definition} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report := asProcess(
		t,
		"retries",
		"design",
		problem,
		"--fit",
		"--data",
		l.data,
		"--definition",
		definition,
		"--write",
		"-o",
		designed,
	)
	t.Log(report.out, report.err)
	report.ends(t, exit.OK)
	text, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("csv-import-designed"), Definition: aws.String(string(text)), RoleArn: was.RoleArn,
	})
	if err != nil {
		t.Fatal(err)
	}

	const imports = 4
	for i := range imports {
		key := fmt.Sprintf("designed/%d.csv", i)
		l.upload(laptopStack, file, key)
		if _, err := states.StartExecution(
			t.Context(),
			&sfn.StartExecutionInput{StateMachineArn: machine.StateMachineArn,
				Input: aws.String(strings.ReplaceAll(*input.Input, "uploads/a.csv", key))},
		); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			before, lasts := 1+random.IntN(3), 15+random.IntN(16)
			t.Logf("import %d: an outage of %d s after %d s", i, lasts, before)
			rest(time.Duration(before) * time.Second)
			asProcess(
				t,
				"chaos",
				"lambda:Invoke:ServiceException:100%",
				"--for",
				fmt.Sprintf("%ds", lasts),
				"--data",
				l.data,
			).ends(
				t,
				exit.OK,
			)
		}
		l.until(10*time.Minute, "the designed import has ended", func() bool {
			return l.succeeded(*machine.StateMachineArn) == i+1
		})
	}
	out := asProcess(
		t,
		"retries",
		"analyze",
		"--design",
		designed,
		"--state-machine",
		"csv-import-designed",
		"--data",
		l.data,
	)
	t.Log(out.out)
	var compared struct {
		Inside, Values int
		Holds          bool
		Reasons        []string
		Periods        []struct{ Condition string }
	}
	text = []byte(
		asProcess(
			t,
			"retries",
			"analyze",
			"--json",
			"--design",
			designed,
			"--state-machine",
			"csv-import-designed",
			"--data",
			l.data,
		).out,
	)
	if err := json.Unmarshal(text, &compared); err != nil {
		t.Fatal(err)
	}
	// Whether the predictions hold depends on the machine: if a call takes longer than in the fitted imports, they do
	// not.
	for i, p := range compared.Periods {
		if want := []string{"calm", "outage"}[i%2]; p.Condition != want {
			t.Errorf("import %d counts as %q, want %s", i, p.Condition, want)
		}
	}
	if len(compared.Periods) != imports || compared.Values != 7*imports ||
		!compared.Holds && len(compared.Reasons) == 0 {
		t.Errorf("%+v", compared)
	}
}

// concurrencyAround returns the product of the MaxConcurrency of all Maps around a state.
func concurrencyAround(t *testing.T, definition, name string) int {
	t.Helper()
	type graph struct {
		States map[string]struct {
			MaxConcurrency int
			ItemProcessor  json.RawMessage
		}
	}
	var find func(text []byte, around int) int
	find = func(text []byte, around int) int {
		var g graph
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		if _, here := g.States[name]; here {
			return around
		}
		for _, s := range g.States {
			if s.ItemProcessor != nil {
				if n := find(s.ItemProcessor, around*max(s.MaxConcurrency, 1)); n > 0 {
					return n
				}
			}
		}
		return 0
	}
	n := find([]byte(definition), 1)
	if n == 0 {
		t.Fatalf("%s is in no Map", name)
	}
	return n
}

// succeeded counts the executions of a state machine that have succeeded. The test fails if one has failed.
func (l *laptop) succeeded(arn string) int {
	l.t.Helper()
	list, err := sfn.NewFromConfig(
		l.config(),
	).ListExecutions(
		l.t.Context(),
		&sfn.ListExecutionsInput{StateMachineArn: &arn},
	)
	if err != nil {
		l.t.Fatal(err)
	}
	n := 0
	for _, x := range list.Executions {
		switch x.Status {
		case sfntypes.ExecutionStatusSucceeded:
			n++
		case sfntypes.ExecutionStatusRunning:
		default:
			l.t.Fatalf("%s is %s", *x.ExecutionArn, x.Status)
		}
	}
	return n
}
