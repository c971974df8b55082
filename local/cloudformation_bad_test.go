package local_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local"
)

// many returns a template of n parameters, every tenth of which depends on the one before it.
func many(n int, value string) string {
	var b strings.Builder
	b.WriteString("Resources:\n")
	for i := range n {
		fmt.Fprintf(&b, "  P%d:\n    Type: AWS::SSM::Parameter\n    Properties: {Name: /many/%d, Type: String, Value: %s}\n", i, i, value)
		if i%10 == 9 {
			fmt.Fprintf(&b, "    DependsOn: P%d\n", i-1)
		}
	}
	return b.String()
}

func TestFiveHundredResources(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	began := time.Now()
	step := func(what, status string) {
		t.Helper()
		if got, reason := s.settled("many"); got != status {
			t.Fatal(got, reason)
		}
		t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
	s.call("CreateStack", map[string]any{"StackName": "many", "TemplateBody": many(500, "one")})
	step("create", "CREATE_COMPLETE")
	s.call("UpdateStack", map[string]any{"StackName": "many", "TemplateBody": many(500, "two")})
	step("update", "UPDATE_COMPLETE")
	got, err := s.try("ssm", "GetParameter", map[string]any{"Name": "/many/499"})
	if err != nil || !strings.Contains(jsonText(got), `"Value":"two"`) {
		t.Error(got, err)
	}
	resources, token := 0, ""
	for {
		in := map[string]any{"StackName": "many"}
		if token != "" {
			in["NextToken"] = token
		}
		page := s.call("ListStackResources", in)
		resources += len(page["StackResourceSummaries"].([]any))
		if token, _ = page["NextToken"].(string); token == "" {
			break
		}
	}
	if resources != 500 {
		t.Errorf("%d resources are listed", resources)
	}
	s.call("DeleteStack", map[string]any{"StackName": "many"})
	step("delete", "GONE")
	_, err = s.try("cloudformation", "CreateStack", map[string]any{"StackName": "more", "TemplateBody": many(501, "one")})
	if want := "Template format error: Number of resources, 501, is greater than maximum allowed, 500"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

func TestACustomResourceThatNeverAnswers(t *testing.T) {
	t.Parallel()
	p, err := local.Open(t.Context(), local.Config{Dir: t.TempDir(),
		Clock: clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "silent", "TemplateBody": strings.NewReplacer("RUNTIME", "python3.12",
		"CODE", "          def handler(event, context):\n              return 'silence'", "Size: 3, Word: WORD", "ServiceTimeout: 600",
		"  Echo: {Value: !GetAtt Made.Echo}\n", "").Replace(custom)})
	if status, reason := s.settled("silent"); status != "ROLLBACK_COMPLETE" || !strings.Contains(s.events("silent"),
		"CloudFormation did not receive a response from your Custom Resource.") {
		t.Error(status, reason, s.events("silent"))
	}
	if functions, err := s.try("lambda", "ListFunctions", nil); err != nil || len(functions["Functions"].([]any)) != 0 {
		t.Error(functions, err)
	}
}

func TestTwoDeploymentsAtOnce(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	race := func(operation string, in map[string]any) (refusals []string) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := s.try("cloudformation", operation, in); err != nil {
					mu.Lock()
					defer mu.Unlock()
					refusals = append(refusals, err.Error())
				}
			})
		}
		all.Wait()
		return refusals
	}
	check := func(what string, refusals []string, want string) {
		t.Helper()
		if len(refusals) != 7 {
			t.Errorf("%s: of eight at once %d were refused", what, len(refusals))
		}
		for _, r := range refusals {
			if !strings.Contains(r, want) {
				t.Errorf("%s: %s", what, r)
			}
		}
	}
	check("create", race("CreateStack", map[string]any{"StackName": "one", "TemplateBody": patient}),
		"AlreadyExistsException: Stack [one] already exists")
	s.call("DeleteStack", map[string]any{"StackName": "one"})
	if status, reason := s.settled("one"); status != "GONE" {
		t.Fatal(status, reason)
	}
	s.call("CreateStack", map[string]any{"StackName": "two", "TemplateBody": small})
	if status, reason := s.settled("two"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason)
	}
	check("update", race("UpdateStack", map[string]any{"StackName": "two", "TemplateBody": patient}),
		"state and can not be updated.")
	s.call("CancelUpdateStack", map[string]any{"StackName": "two"})
	if status, reason := s.settled("two"); status != "UPDATE_ROLLBACK_COMPLETE" {
		t.Fatal(status, reason)
	}
	s.call("CreateChangeSet", map[string]any{"StackName": "three", "ChangeSetName": "c", "ChangeSetType": "CREATE",
		"TemplateBody": patient})
	check("change set", race("ExecuteChangeSet", map[string]any{"StackName": "three", "ChangeSetName": "c"}), "ChangeSet")
}
