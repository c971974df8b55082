package local_test

import (
	"strings"
	"testing"
)

const twoTopics = `{"Resources": {
	"Topic1": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "one", "DisplayName": "first"}},
	"Topic2": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "two",
		"DisplayName": {"Fn::GetAtt": ["Topic1", "DisplayName"]}}}}}`

// TestChangesAsRecorded compares a change set and the events of its deployment with recordings of AWS: one topic is
// replaced, and another one refers to a property of it.
func TestChangesAsRecorded(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	describe := func(values bool) []any {
		return s.call("DescribeChangeSet", map[string]any{"StackName": "recorded", "ChangeSetName": "set",
			"IncludePropertyValues": values})["Changes"].([]any)
	}
	deploy := func(kind, template string) {
		t.Helper()
		s.call("CreateChangeSet", map[string]any{"StackName": "recorded", "ChangeSetName": "set",
			"ChangeSetType": kind, "TemplateBody": template})
	}
	execute := func(want string) {
		t.Helper()
		s.call("ExecuteChangeSet", map[string]any{"StackName": "recorded", "ChangeSetName": "set"})
		if status, reason := s.settled("recorded"); status != want {
			t.Fatal(status, reason)
		}
	}
	deploy("CREATE", twoTopics)
	if got := jsonText(describe(true)[0]); !strings.Contains(got, `"Replacement":"True"`) {
		t.Errorf("with values, what is added is told without a replacement: %s", got)
	}
	if got := jsonText(describe(false)[0]); strings.Contains(got, "Replacement") {
		t.Errorf("without values, what is added is told with a replacement: %s", got)
	}
	execute("CREATE_COMPLETE")
	deploy("UPDATE", strings.NewReplacer(`"one"`, `"another"`, `"first"`, `"second"`).Replace(twoTopics))
	details := func(values bool) string {
		return jsonText(describe(values)[1].(map[string]any)["ResourceChange"].(map[string]any)["Details"])
	}
	const target = `"Attribute":"Properties"`
	if got, want := details(false), `[{"CausingEntity":"Topic1.DisplayName","ChangeSource":"ResourceAttribute",`+
		`"Evaluation":"Static","Target":{`+target+`,"Name":"DisplayName","RequiresRecreation":"Never"}}]`; got != want {
		t.Errorf("without values, the details are\n%s, not\n%s", got, want)
	}
	const valued = `"Target":{"AfterValue":"{{changeSet:KNOWN_AFTER_APPLY}}",` + target +
		`,"AttributeChangeType":"Modify","BeforeValue":"first","Name":"DisplayName","Path":"/Properties/DisplayName",` +
		`"RequiresRecreation":"Never"}}`
	if got, want := details(true), `[{"ChangeSource":"DirectModification","Evaluation":"Dynamic",`+valued+
		`,{"CausingEntity":"Topic1.DisplayName","ChangeSource":"ResourceAttribute","Evaluation":"Static",`+valued+`]`; got != want {
		t.Errorf("with values, the details are\n%s, not\n%s", got, want)
	}
	execute("UPDATE_COMPLETE")
	var told []string
	for _, e := range s.call("DescribeStackEvents", map[string]any{"StackName": "recorded"})["StackEvents"].([]any) {
		e := e.(map[string]any)
		if e["LogicalResourceId"] != "Topic1" {
			continue
		}
		status, physical := e["ResourceStatus"].(string), e["PhysicalResourceId"].(string)
		properties, _ := e["ResourceProperties"].(string)
		told = append(told, status+" "+physical[strings.LastIndexByte(physical, ':')+1:]+" "+properties)
	}
	want := []string{
		"DELETE_COMPLETE one ", "DELETE_IN_PROGRESS one ",
		`UPDATE_COMPLETE another {"DisplayName":"second","TopicName":"another"}`,
		`UPDATE_IN_PROGRESS another {"DisplayName":"second","TopicName":"another"}`,
		`UPDATE_IN_PROGRESS one {"DisplayName":"second","TopicName":"another"}`,
		`CREATE_COMPLETE one {"DisplayName":"first","TopicName":"one"}`,
		`CREATE_IN_PROGRESS one {"DisplayName":"first","TopicName":"one"}`,
		`CREATE_IN_PROGRESS  {"DisplayName":"first","TopicName":"one"}`,
	}
	if got := strings.Join(told, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the events are\n%s\nnot\n%s", got, strings.Join(want, "\n"))
	}
	id := s.call("DescribeStacks", map[string]any{"StackName": "recorded"})["Stacks"].([]any)[0].(map[string]any)["StackId"]
	s.call("DeleteStack", map[string]any{"StackName": "recorded"})
	if status, reason := s.settled(id.(string)); status != "DELETE_COMPLETE" {
		t.Fatal(status, reason)
	}
	gone := s.call("DescribeStacks", map[string]any{"StackName": id})["Stacks"].([]any)[0].(map[string]any)
	if _, has := gone["ChangeSetId"]; has {
		t.Error("a stack that is gone still names its change set")
	}
}
