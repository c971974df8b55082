package template_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/local/services/cloudformation/template"
)

func read(t *testing.T, text string) *template.Template {
	t.Helper()
	d, err := template.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := template.Expand(d, map[string]any{"Names": []any{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	r, err := template.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	env := &template.Env{
		Values: map[string]any{"AWS::Region": "eu-west-1", "P": "7", "L": []any{"x", "y"}}, Extensions: true,
		Mappings:   map[string]any{"M": map[string]any{"a": map[string]any{"b": "c"}}},
		Conditions: map[string]bool{"Yes": true, "No": false},
		Ref:        func(id string) (any, error) { return "ref-" + id, nil },
		Attribute: func(id, name string) (any, error) {
			if name == "Later" {
				return template.Unknown{Resource: id, Attribute: name}, nil
			}
			return id + "/" + name, nil
		},
		Import:  func(name string) (string, error) { return "import-" + name, nil },
		Zones:   func(region string) []string { return []string{region + "a"} },
		Dynamic: func(service, key string) (string, error) { return service + "=" + key, nil },
	}
	for text, want := range map[string]string{
		`!Ref P`:        `"7"`,
		`!Ref R`:        `"ref-R"`,
		`!GetAtt R.A.B`: `"R/A.B"`,
		`!Sub "${P} ${R} ${R.Arn} ${!Keep} ${V}"`:                            ``,
		`{"Fn::Sub": ["${P} ${R.Arn} ${!Keep} ${V}", {"V": {"Ref": "R"}}]}`:  `"7 R/Arn ${Keep} ref-R"`,
		`!Join ["-", [a, !Ref P, 3, true]]`:                                  `"a-7-3-true"`,
		`!Select [1, !Ref L]`:                                                `"y"`,
		`!Select ["0", !Split [",", "p,q"]]`:                                 `"p"`,
		`!If [Yes, a, b]`:                                                    `"a"`,
		`{a: !If [No, x, !Ref "AWS::NoValue"], b: [1, !Ref "AWS::NoValue"]}`: `{"b":[1]}`,
		`!FindInMap [M, a, b]`:                                               `"c"`,
		`!FindInMap [M, a, z, {DefaultValue: d}]`:                            `"d"`,
		`!ImportValue n`:                                                     `"import-n"`,
		`!Base64 hello`:                                                      `"aGVsbG8="`,
		`!Cidr ["10.0.0.0/16", 2, 8]`:                                        `["10.0.0.0/24","10.0.1.0/24"]`,
		`!GetAZs ""`:                                                         `["eu-west-1a"]`,
		`!Length [1, 2, 3]`:                                                  `3`,
		`!ToJsonString {b: !Ref P, a: [1]}`:                                  `"{\"a\":[1],\"b\":\"7\"}"`,
		`"x{{resolve:ssm:/a/b}}y"`:                                           `"xssm=/a/by"`,
		`!Join ["", [a, !GetAtt R.Later]]`:                                   `{"Resource":"R","Attribute":"Later"}`,
		`012345678901`:                                                       `"012345678901"`,
		`2012-10-17`:                                                         `"2012-10-17"`,
	} {
		d, err := template.Parse("V: " + text)
		if err != nil {
			t.Error(text, err)
			continue
		}
		got, err := env.Evaluate(d.Root["V"])
		switch {
		case want == "":
			if err == nil && !strings.Contains(template.JSON(got), "ref-V") {
				t.Errorf("%s gave %s", text, template.JSON(got))
			}
		case err != nil || template.JSON(got) != want:
			t.Errorf("%s gave %s, %v, not %s", text, template.JSON(got), err, want)
		}
	}
}

func TestConditionsAndGraph(t *testing.T) {
	t.Parallel()
	r := read(t, `
Parameters: {Stage: {Type: String, Default: dev, AllowedValues: [dev, prod]}}
Conditions:
  Prod: !Equals [!Ref Stage, prod]
  NotProd: !Not [!Condition Prod]
  Both: !And [!Condition Prod, !Condition NotProd]
Resources:
  A: {Type: X, Properties: {Of: !If [Prod, !Ref B, !Ref C]}}
  B: {Type: X, Condition: Prod}
  C: {Type: X, DependsOn: [D, B]}
  D: {Type: X}
`)
	values, err := r.Values(nil, nil)
	if err != nil || values["Stage"] != "dev" {
		t.Fatal(values, err)
	}
	conditions, err := r.EvaluateConditions(&template.Env{Values: map[string]any{"Stage": "dev"}})
	if err != nil || conditions["Prod"] || !conditions["NotProd"] || conditions["Both"] {
		t.Fatal(conditions, err)
	}
	g, err := r.GraphOf(conditions)
	if err != nil || strings.Join(g.IDs, " ") != "A C D" || strings.Join(g.Needs["A"], " ") != "C" ||
		strings.Join(g.Needs["C"], " ") != "D" {
		t.Error(g, err)
	}
	_, err = r.Values(map[string]template.Given{"Stage": {Value: "test"}}, nil)
	if err == nil || err.Error() != "Parameter 'Stage' must be one of AllowedValues" {
		t.Error(err)
	}
	_, err = r.Values(map[string]template.Given{"Nope": {Value: "x"}}, nil)
	if err == nil || err.Error() != "Parameters: [Nope] do not exist in the template" {
		t.Error(err)
	}
}

// TestAllowedPatterns checks a parameter with a pattern in Java's dialect, as AWS does.
func TestAllowedPatterns(t *testing.T) {
	t.Parallel()
	r := read(t, `
Parameters: {Password: {Type: String, AllowedPattern: '^(?=.*[A-Z])(?=.*\d).{8,}$'}}
Resources: {A: {Type: X}}
`)
	for value, want := range map[string]string{"Secret123": "",
		"secret123": `Parameter 'Password' must match pattern ^(?=.*[A-Z])(?=.*\d).{8,}$`} {
		_, err := r.Values(map[string]template.Given{"Password": {Value: value}}, nil)
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}

func TestLoopsAreExpanded(t *testing.T) {
	t.Parallel()
	r := read(t, `
Transform: AWS::LanguageExtensions
Parameters: {Names: {Type: CommaDelimitedList}}
Resources:
  Fn::ForEach::Queues:
    - Name
    - !Ref Names
    - Queue${Name}:
        Type: AWS::SQS::Queue
        Properties: {QueueName: !Sub "${AWS::StackName}-${Name}", Tag: !Ref Name}
`)
	if len(r.Resources) != 2 || r.Resources[0].ID != "Queuea" ||
		template.JSON(r.Resources[1].Properties) != `{"QueueName":{"Fn::Sub":"${AWS::StackName}-b"},"Tag":"b"}` {
		t.Error(template.JSON(r.Resources[1].Properties))
	}
}

// FuzzParse checks that no input panics.
func FuzzParse(f *testing.F) {
	f.Add("Resources: {A: {Type: AWS::SQS::Queue, Properties: {N: !Sub '${A.Arn}'}}}")
	f.Add(`{"Resources":{"A":{"Type":"X","DependsOn":["B"]}},"Conditions":{"C":{"Fn::Or":[{"Condition":"C"},{}]}}}`)
	f.Add("Transform: AWS::LanguageExtensions\nResources: {'Fn::ForEach::L': [x, [a], {'Q${x}': {Type: T}}]}")
	f.Fuzz(func(_ *testing.T, text string) {
		d, err := template.Parse(text)
		if err != nil {
			return
		}
		if template.Expand(d, nil) != nil {
			return
		}
		r, err := template.Read(d)
		if err != nil {
			return
		}
		env := &template.Env{Values: map[string]any{}, Ref: func(string) (any, error) { return "", nil },
			Attribute: func(string, string) (any, error) { return "", nil }}
		conditions, err := r.EvaluateConditions(env)
		if err != nil {
			return
		}
		env.Conditions = conditions
		if _, err := r.GraphOf(conditions); err != nil {
			return
		}
		for _, x := range r.Resources {
			_, _ = env.Evaluate(x.Properties)
		}
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	env := &template.Env{Values: map[string]any{"AWS::Region": "eu-west-1", "Stage": "prod", "Type": "t3.micro",
		"Zones": []any{"a", "b"}, "Both": []any{"a", "a"}}}
	for rule, want := range map[string]string{
		`{Assertions: [{Assert: !Equals [!Ref "AWS::Region", eu-west-1]}]}`:                                             "",
		`{Assertions: [{Assert: !Equals [!Ref Stage, dev], AssertDescription: only dev}]}`:                              "Template error: the rule R failed: only dev",
		`{Assertions: [{Assert: !Equals [!Ref Stage, dev]}]}`:                                                           "Template error: the rule R failed",
		`{RuleCondition: !Equals [!Ref Stage, dev], Assertions: [{Assert: {"Fn::Contains": [[m5.large], !Ref Type]}}]}`: "",
		`{RuleCondition: !Equals [!Ref Stage, prod], Assertions: [{Assert: {"Fn::Contains": [[m5.large], !Ref Type]}, AssertDescription: large},
		  {Assert: {"Fn::Contains": [[t3.micro], !Ref Type]}, AssertDescription: micro}, {Assert: !Not [{"Fn::Contains": [!Ref Zones, b]}], AssertDescription: zones}]}`: "Template error: the rule R failed: large; the rule R failed: zones",
		`{Assertions: [{Assert: !And [{"Fn::EachMemberIn": [!Ref Zones, [a, b, c]]}, {"Fn::EachMemberEquals": [!Ref Both, a]}]}]}`: "",
		`{Assertions: [{Assert: !Or [{"Fn::EachMemberIn": [!Ref Zones, [a]]}, {"Fn::EachMemberEquals": [!Ref Zones, a]}]}]}`:       "Template error: the rule R failed",
		`{Assertions: [{Assert: {"Fn::EachMemberIn": [{"Fn::RefAll": "AWS::EC2::VPC::Id"}, [a]]}}]}`:                               "Template error: the function Fn::RefAll is not supported",
		`{Assertions: [{Assert: !Equals [!Ref Q, a]}]}`:                                                                            "Template format error: Unresolved dependencies [Q]. Cannot reference resources in the Conditions block of the template",
		`{Assertion: []}`:    "Template format error: Invalid property Assertion of the rule R",
		`{Assertions: []}`:   "Template format error: The rule R must have a list of Assertions",
		`{Assertions: [{}]}`: "Template format error: Every assertion of the rule R must have an Assert",
		`{Assertions: [{Assert: {"Fn::Contains": [a]}}]}`: "Template error: every Fn::Contains object requires a list of 2 parameters.",
		`x`: "Template format error: Every Rules member must be an object: R",
	} {
		err := read(t, "Rules: {R: "+rule+"}\nResources: {Q: {Type: AWS::SQS::Queue}}").CheckRules(env)
		if got := textOf(err); got != want {
			t.Errorf("%s: %s\nwant %s", rule, got, want)
		}
	}
	if _, err := read(t, "Conditions: {C: {'Fn::Contains': [[a], a]}}\nResources: {Q: {Type: AWS::SQS::Queue}}").EvaluateConditions(env); err == nil {
		t.Error("a condition with a function of rules")
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	snippets := map[string]string{
		"s3://b/two":       `{"Q": {"Type": "AWS::SQS::Queue"}, "T": {"Type": "AWS::SNS::Topic"}}`,
		"s3://b/name.yaml": "QueueName: !Sub '${Stage}-q'",
		"s3://b/sections":  `{"Resources": {"E": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"O": {"Value": "v"}}}`,
		"s3://b/nested":    `{"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": "s3://b/two"}}}`,
		"s3://b/bad":       `[1]`,
	}
	for text, want := range map[string]string{
		`Resources: {A: {Type: T}, "Fn::Transform": {Name: AWS::Include, Parameters: {Location: s3://b/two}}}`:                               `{"A":{"Type":"T"},"Q":{"Type":"AWS::SQS::Queue"},"T":{"Type":"AWS::SNS::Topic"}}`,
		`Resources: {A: {Type: T, Properties: {"Fn::Transform": {Name: AWS::Include, Parameters: {Location: !Sub "s3://b/${File}.yaml"}}}}}`: `{"A":{"Properties":{"QueueName":{"Fn::Sub":"${Stage}-q"}},"Type":"T"}}`,
		"Transform: {Name: AWS::Include, Parameters: {Location: s3://b/sections}}\nResources: {A: {Type: T}}":                                `{"A":{"Type":"T"},"E":{"Type":"AWS::SQS::Queue"}}`,
		"Transform: [{Name: AWS::Include, Parameters: {Location: s3://b/sections}}]\nResources: {E: {Type: T}}":                              "Transform AWS::Include failed with: The template and the included content both have the key E",
		`Resources: {"Fn::Transform": {Name: AWS::Include, Parameters: {Location: s3://b/nested}}}`:                                          "Transform AWS::Include failed with: The content at s3://b/nested includes other content",
		`Resources: {"Fn::Transform": {Name: AWS::Include, Parameters: {Location: s3://b/bad}}}`:                                             "Transform AWS::Include failed with: The content at s3://b/bad: Template format error: unsupported structure.",
		`Resources: {"Fn::Transform": {Name: AWS::Include, Parameters: {Place: s3://b/bad}}}`:                                                "Transform AWS::Include failed with: The Parameters of the transform must be a Location, the URL of an object in S3",
		`Resources: {"Fn::Transform": {Name: AWS::Include, Parameters: {Location: s3://b/none}}}`:                                            "none",
		`Resources: {"Fn::Transform": {Name: Mine}}`:                                                                                         `{"Fn::Transform":{"Name":"Mine"}}`,
	} {
		d, err := template.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := template.ExpandIncludes(d, &template.Env{Values: map[string]any{"File": "name"}}, func(location string) (string, error) {
			if snippet, ok := snippets[location]; ok {
				return snippet, nil
			}
			return "", errors.New("none")
		})
		got := textOf(err)
		if err == nil {
			got = template.JSON(d.Root["Resources"])
		}
		if got != want || found == strings.Contains(text, "Mine") {
			t.Errorf("%s: found %v: %s\nwant %s", text, found, got, want)
		}
	}
}
