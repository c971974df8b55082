package template_test

import (
	"strings"
	"testing"

	"stepback/local/services/cloudformation/template"
)

// TestWhatIsRefusedBeforeAStackIsCreated has CloudFormation's messages for templates that no parameters can make valid.
func TestWhatIsRefusedBeforeAStackIsCreated(t *testing.T) {
	t.Parallel()
	const queue = `"Resources":{"Q":{"Type":"AWS::SQS::Queue"}}`
	output := func(value string) string { return `{` + queue + `,"Outputs":{"O":{"Value":` + value + `}}}` }
	const arguments = "Template error: every Fn::FindInMap object requires three parameters, the map name, map key and the " +
		"attribute for return value"
	const extended = `{"Transform":"AWS::LanguageExtensions",`
	for text, want := range map[string]string{
		output(`{"Fn::FindInMap":["M","a","b"]}`):                                     "",
		output(`{"Fn::FindInMap":["M","a"]}`):                                         arguments,
		output(`{"Fn::FindInMap":"M"}`):                                               arguments,
		extended + output(`{"Fn::FindInMap":["M","a","b",{"DefaultValue":"c"}]}`)[1:]: "",
		extended + output(`{"Fn::FindInMap":["M","a","b",{"DefaultValue":1},2]}`)[1:]: arguments,
		`{` + queue + `,"Outputs":{"O":{"Value":"a","Export":{"Name":{"Ref":"Gone"}}}}}`: "Template format error: Unresolved resource " +
			"dependencies [Gone] in the Outputs block of the template",
		output(`{"Fn::Nope":"x"}`): "Template error: Encountered unsupported function: Fn::Nope Supported functions are: [Fn::Base64, " +
			"Fn::GetAtt, Fn::GetAZs, Fn::ImportValue, Fn::Join, Fn::Split, Fn::FindInMap, Fn::Select, Ref, Fn::Equals, Fn::If, " +
			"Fn::Not, Condition, Fn::And, Fn::Or, Fn::Contains, Fn::EachMemberEquals, Fn::EachMemberIn, Fn::ValueOf, " +
			"Fn::ValueOfAll, Fn::RefAll, Fn::Sub, Fn::Cidr]",
		output(`{"Fn::Length":["a"]}`): "Template error: Encountered unsupported function: Fn::Length ",
		output(`{"Fn::Join":["-","a"]}`): "Template error: every Fn::Join object requires two parameters, (1) a string delimiter and (2) a " +
			"list of strings to be joined or a function that returns a list of strings (such as Fn::GetAZs) to be joined.",
		output(`{"Fn::Join":["-",[{"Fn::Select":["2",["a","b"]]}]]}`): "Template error: Fn::Select cannot select nonexistent value at index 2",
		output(`["a"]`):                        "Template format error: The Value field of every Outputs member must evaluate to a String.",
		output(`{"a":"b"}`):                    "Template format error: The Value field of every Outputs member must evaluate to a String.",
		output(`{"Fn::Select":[1,["a"," "]]}`): "",
		output(`{"Ref":"Q"}`):                  "",
		output(`7`):                            "",
		`{"Transform":"AWS::LanguageExtensions",` + output(`{"Fn::Length":["a"]}`)[1:]: "",
		`{"Description":"` + strings.Repeat("x", 1025) + `",` + queue + `}`: "Template format error: 'Description' length is greater " +
			"than 1024.",
		`{"Description":"` + strings.Repeat("x", 1024) + `",` + queue + `}`: "",
		`{"Resources":{"Q":{"Type":"AWS::SQS::Queue","DeletionPolicy":"Snapshot"}}}`: "Template error: resource type AWS::SQS::Queue does " +
			"not support deletion policy Snapshot",
		`{"Resources":{"Q":{"Type":"AWS::SQS::Queue","Properties":{"QueueName":{"Fn::Nope":"x"}}}}}`: "Template error: Encountered " +
			"unsupported function: Fn::Nope ",
	} {
		d, err := template.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if _, err = template.Read(d); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}
