package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// segmentOf is a segment as BatchGetTraces returns it.
type segmentOf struct {
	Name, ID    string
	TraceID     string `json:"trace_id"`
	ParentID    string `json:"parent_id"`
	Origin      string
	Start       float64 `json:"start_time"`
	End         float64 `json:"end_time"`
	Fault       bool
	Subsegments []segmentOf
}

// all collects the segment and its subsegments, by name and origin.
func (s *segmentOf) all(into map[string][]*segmentOf) {
	name := strings.Trim(s.Name+" "+s.Origin, " ")
	into[name] = append(into[name], s)
	for i := range s.Subsegments {
		s.Subsegments[i].all(into)
	}
}

// tracing is a function that fails the first time and sends its own segment to the daemon.
func tracing(around functions.Surroundings) (functions.Program, error) {
	failed := false
	return functions.Program{Handler: func(ctx context.Context) error {
		header, _ := ctx.Value("x-amzn-trace-id").(string)
		root, parent, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(header, "Root="), ";Sampled=1"), ";Parent=")
		daemon, err := (&net.Dialer{}).DialContext(ctx, "udp", around.Env["AWS_XRAY_DAEMON_ADDRESS"])
		if err != nil {
			return err
		}
		_, err = daemon.Write([]byte("{\"format\": \"json\", \"version\": 1}\n" + `{"name":"database","id":"53995c3f42cd8ad8",` +
			`"type":"subsegment","trace_id":"` + root + `","parent_id":"` + parent + `","start_time":1,"end_time":2}`))
		if err == nil && !failed {
			failed, err = true, errors.New("not yet")
		}
		return errors.Join(err, daemon.Close())
	}}, nil
}

// A traced machine calls a function, which is retried, and starts another machine, whose execution belongs to the
// same trace.
func TestExecutionsAreTraced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := func() (*local.Platform, error) {
		return local.Open(t.Context(), local.Config{Dir: dir, Clock: clock.Virtual(time.Now()),
			BuiltIn: map[string]functions.BuiltIn{"tracing": tracing}})
	}
	p, err := begin()
	if err != nil {
		t.Fatal(err)
	}
	s := stacksOf(t, p)
	must := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := s.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "stock", BuiltIn: "tracing",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	const role = "arn:aws:iam::000000000000:role/r"
	inner := must("sfn", "CreateStateMachine", map[string]any{"name": "inner", "roleArn": role,
		"definition": `{"StartAt":"Ship","States":{"Ship":{"Type":"Pass","End":true}}}`})["stateMachineArn"].(string)
	definition := `{"StartAt":"Reserve","States":{
		"Reserve":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:stock",
			"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":60}],"Next":"Both"},
		"Both":{"Type":"Parallel","End":true,"Branches":[{"StartAt":"Send","States":{"Send":{"Type":"Task","End":true,
			"Resource":"arn:aws:states:::states:startExecution.sync:2","Parameters":{"StateMachineArn":"` + inner + `"}}}}]}}}`
	outer := must("sfn", "CreateStateMachine", map[string]any{"name": "outer", "roleArn": role, "definition": definition,
		"tracingConfiguration": map[string]any{"enabled": true}})["stateMachineArn"]
	p.Clock.Hold() // waiting for an execution requires holding the clock
	execution := must("sfn", "StartExecution", map[string]any{"stateMachineArn": outer})["executionArn"].(string)
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Await(t.Context(), execution); err != nil {
		t.Fatal(err)
	}
	p.Clock.Release()
	described := must("sfn", "DescribeExecution", map[string]any{"executionArn": execution})
	header, _ := described["traceHeader"].(string)
	trace, _, _ := strings.Cut(strings.TrimPrefix(header, "Root="), ";")
	if described["status"] != "SUCCEEDED" || !strings.HasSuffix(header, ";Sampled=1") {
		t.Fatal(described)
	}
	if err := p.Close(); err != nil { // stores everything that is still waiting
		t.Fatal(err)
	}
	if p, err = begin(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s = stacksOf(t, p)
	got := must("xray", "BatchGetTraces", map[string]any{"TraceIds": []string{trace}})["Traces"].([]any)
	if len(got) != 1 {
		t.Fatalf("%d traces of %s", len(got), trace)
	}
	found := map[string][]*segmentOf{}
	for _, one := range got[0].(map[string]any)["Segments"].([]any) {
		var g segmentOf
		if err := json.Unmarshal([]byte(one.(map[string]any)["Document"].(string)), &g); err != nil {
			t.Fatal(err)
		}
		g.all(found)
	}
	names := []string{}
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := "Both,Invocation,Lambda,Reserve,Send,Ship,StepFunctions,database,inner AWS::StepFunctions::StateMachine," +
		"outer AWS::StepFunctions::StateMachine,stock AWS::Lambda,stock AWS::Lambda::Function"; strings.Join(names, ",") != want {
		t.Fatalf("the segments are %v", names)
	}
	for child, parent := range map[string]string{
		"inner AWS::StepFunctions::StateMachine": "StepFunctions", "stock AWS::Lambda::Function": "stock AWS::Lambda",
		"stock AWS::Lambda": "Lambda", "database": "stock AWS::Lambda::Function",
	} {
		for _, c := range found[child] {
			if !slices.ContainsFunc(found[parent], func(p *segmentOf) bool { return p.ID == c.ParentID }) {
				t.Errorf("%s is below %s, which is no %s", child, c.ParentID, parent)
			}
		}
	}
	if n := len(found["Reserve"][0].Subsegments); n != 2 {
		t.Errorf("Reserve has %d attempts", n)
	}
}
