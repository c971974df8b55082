package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/asl/document"
)

func check(definition string) []asl.Diagnostic {
	_, found := asl.Options{Resources: true}.Parse(definition)
	return found
}

func ExampleRead() {
	d := document.Read(`StartAt: Pay
States:
  Pay:
    Type: Task
    Resource: ${PayFunction}
    TimeoutSeconds: soon # a number of seconds
    End: true
`, document.Options{YAML: true})
	fmt.Print(asl.Render(d.Diagnose(check), d.Text, "pay.asl.yaml"))
	fmt.Println("open:", d.Open)
	// Output:
	// pay.asl.yaml:6:21: error SCHEMA_VALIDATION_FAILED: Expected value of type Integer (at /States/Pay/TimeoutSeconds)
	//   6 |     TimeoutSeconds: soon # a number of seconds
	//     |                     ^^^^
	//     = found a string
	// open: [PayFunction]
}

func TestReadingYAML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, yaml, json string }{
		{"nothing", "# only a comment\n", ``},
		{"JSON", `{"a": [1, 2.50, "x"], "b": {}}`, `{"a":[1,2.50,"x"],"b":{}}`},
		{"blocks", "a:\n  - 1\n  - b: x\n    c: ~\n", `{"a":[1,{"b":"x","c":null}]}`},
		{"strings", "a: '007'\nb: \"\\u00e9\\n\"\nc: it's\nd: 'it''s'\n",
			`{"a":"007","b":"é\n","c":"it's","d":"it's"}`},
		{"many lines", "a: |\n  one\n  two\nb: >-\n  one\n  two\n", `{"a":"one\ntwo\n","b":"one two"}`},
		{"JSONata", "a: '{% $states.input.x %}'\nb: |-\n  {% (\n    $x := 1;\n    $x\n  ) %}\n",
			`{"a":"{% $states.input.x %}","b":"{% (\n  $x := 1;\n  $x\n) %}"}`},
		{"numbers", "a: 0x10\nb: 1_000\nc: 1e3\nd: +5\ne: .5\nf: 12345678901234567890\n",
			`{"a":16,"b":1000,"c":1e3,"d":5,"e":0.5,"f":12345678901234567890}`},
		{"booleans of YAML 1.1", "a: yes\nb: Off\nc: 'yes'\nd: TRUE\ne: y\n",
			`{"a":true,"b":false,"c":"yes","d":true,"e":"y"}`},
		{"a time is text", "a: 2026-01-02T03:04:05Z\nb: 2026-01-02\n", `{"a":"2026-01-02T03:04:05Z","b":"2026-01-02"}`},
		{"names are text", "1: a\ntrue: b\nno: c\n", `{"1":"a","true":"b","no":"c"}`},
		{"repeated names stay", "a: 1\na: 2\n", `{"a":1,"a":2}`},
		{"functions of CloudFormation", "Resource: !GetAtt Pay.Arn\na: !Ref Table\nb: !Sub 'x-${AWS::Region}'\nc: !Sub y-${Z}\n", `{"Resource":"arn:aws:lambda:us-east-1:123456789012:function:Pay","a":"${Table}","b":"x-us-east-1","c":"y-${Z}"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := document.Read(c.yaml, document.Options{YAML: true})
			if d.JSON != c.json || len(d.Problems) > 0 {
				t.Errorf("got %s %v, want %s", d.JSON, d.Problems, c.json)
			}
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		yaml             bool
	}{
		{"byte order mark", "\ufeff{}", "x:1:1: error UNREADABLE_DEFINITION: The text begins with a byte order mark",
			false},
		{"UTF-16 with a mark", "\xff\xfe{\x00}\x00", "x:1:1: error UNREADABLE_DEFINITION: The text is UTF-16", false},
		{"UTF-16 without", "\x00{\x00}", "x:1:1: error UNREADABLE_DEFINITION: The text is UTF-16", true},
		{"byte 0", "{\n\x00}", "x:2:1: error UNREADABLE_DEFINITION: The file is not text", false},
		{"Latin 1", "{\"\xe4\": 1}", "x:1:3: error UNREADABLE_DEFINITION: The text is not UTF-8", false},
		{"too long", `{"Comment": "` + strings.Repeat("x", document.MaxSize) + `"}`,
			"x:1:1: error UNREADABLE_DEFINITION: The definition is longer than 1,048,576 bytes", false},
		{"too long YAML", strings.Repeat("# x\n", 3*document.MaxSize),
			"x:1:1: error UNREADABLE_DEFINITION: The definition is longer than 1,048,576 bytes", true},
		{"alias", "a: &x 1\nb: *x\n", "x:2:4: error UNREADABLE_DEFINITION: CloudFormation refuses aliases", true},
		{"merge", "a: 1\n<<: {b: 1}\n", "x:2:1: error UNREADABLE_DEFINITION: CloudFormation refuses merge keys", true},
		{"two documents", "a: 1\n---\nb: 1\n",
			"x:2:1: error UNREADABLE_DEFINITION: The file has more than one YAML document", true},
		{"tab", "a:\n\tb: 1\n", "x:2:1: error UNREADABLE_DEFINITION: The text is not YAML: found character that cannot start any token", true},
		{"infinity", "a: .inf\n", "x:1:4: error UNREADABLE_DEFINITION: JSON has no number .inf", true},
		{"name that is none", "? [a]\n: 1\n", "x:1:3: error UNREADABLE_DEFINITION: The name of a member is a string",
			true},
		{"template", "Transform: x\nResources:\n  A: !If [a, b]\n",
			"x:2:1: error UNREADABLE_DEFINITION: This is a CloudFormation or SAM template", true},
		{"other tag", "a: !Join ['', [a]]\n", "x:1:4: error UNREADABLE_DEFINITION: The tag !Join means nothing", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := document.Read(c.text, document.Options{YAML: c.yaml})
			if got := asl.Render(d.Diagnose(check), d.Text, "x"); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s\nwant %s…", got, c.want)
			}
		})
	}
}

// task returns a definition whose only state has these members.
func task(members string) string {
	return "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Task\", \"End\": true,\n" + members + "}}}"
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	given := map[string]string{"Fn": "arn:aws:lambda:eu-west-1:123456789012:function:f", "Seconds": "5", "Bad": "soon"}
	for _, c := range []struct {
		name, text string
		values     map[string]string
		want       string // expected finding
		open       []string
	}{
		{"a function without a value", task(`"Resource": "${Fn}"`), nil, "", []string{"Fn"}},
		{"a function with one", task(`"Resource": "${Fn}"`), given, "", nil},
		{"part of an ARN", task(`"Resource": "arn:aws:lambda:${Region}:${AWS::AccountId}:function:${Fn.Arn}"`), nil, "",
			[]string{"Region", "Fn.Arn"}},
		{"the partition", task(`"Resource": "arn:${AWS::Partition}:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "${Queue}", "MessageBody": ""}`), nil, "", []string{"Queue"}},
		{"an integration that does not exist", task(`"Resource": "arn:aws:states:::sqs:${Verb}"`), nil, "",
			[]string{"Verb"}},
		{"a number", task(`"Resource": "${Fn}", "HeartbeatSeconds": ${H}, "TimeoutSeconds": ${T}, "Retry": [{"ErrorEquals": ["a"], "BackoffRate": ${B}, "MaxDelaySeconds": ${D}}]`), nil, "", []string{"Fn", "H", "T", "B", "D"}},
		{"an object", task(`"Resource": "${Fn}", "Credentials": ${Role}`), nil, "", []string{"Fn", "Role"}},
		{"a number with a value", task(`"Resource": "${Fn}", "TimeoutSeconds": ${Seconds}`), given, "", nil},
		{"a number in quotes", task(`"Resource": "${Fn}", "TimeoutSeconds": "${Seconds}"`), given,
			"2:40: Expected value of type Integer", nil},
		{"a number in quotes without a value", task(`"Resource": "${Fn}", "TimeoutSeconds": "${T}"`), nil, "",
			[]string{"Fn", "T"}},
		{"what follows keeps its place", task(`"Resource": "${Fn}", "TimeoutSeconds": ${T}, "Nxt": 1`), nil,
			"2:46: Field 'Nxt' is not supported", []string{"Fn", "T"}},
		{"what follows a value does, too", task(`"Resource": "${Fn}", "TimeoutSeconds": ${Seconds}, "Nxt": 1`), given,
			"2:52: Field 'Nxt' is not supported", nil},
		{"an escaped quote before", task(`"Comment": "\"", "Resource": "${Fn}"`), nil, "", []string{"Fn"}},
		{"no placeholder", task(`"Resource": "{{Fn}}"`), nil, "2:13: Value is not a valid resource ARN", nil},
		{"a dollar where JSON has none", "{$}", nil,
			"1:2: Unexpected character ('$' (code 36)): was expecting double-quote to start field name\n" +
				" at [Source: (String)\"{$}\"; line: 1, column: 3]", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := document.Read(c.text, document.Options{Values: c.values})
			var got []string
			for _, f := range d.Diagnose(check) {
				got = append(got, fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Message))
			}
			if strings.Join(got, "\n") != c.want || !slices.Equal(d.Open, c.open) {
				t.Errorf("found %q, open %q\nwant %q, %q", got, d.Open, c.want, c.open)
			}
		})
	}
}

func TestPlaceholdersInNamesOfMembers(t *testing.T) {
	t.Parallel()
	for text, yaml := range map[string]bool{`{"${Table}.$": "$", "b": "${Other}"}`: false,
		"${Table}.$: $\nb: ${Other}\n": true} {
		d := document.Read(text, document.Options{YAML: yaml})
		if want := []string{"Table", "Other"}; !slices.Equal(d.Open, want) {
			t.Errorf("%s: %q", text, d.Open)
		}
		d = document.Read(text, document.Options{YAML: yaml, Values: map[string]string{"Table": "orders"}})
		if !strings.Contains(d.JSON, `"orders.$"`) {
			t.Error(d.JSON)
		}
	}
}

func TestOnlyPlaceholdersOutsideStringsAreNeeded(t *testing.T) {
	t.Parallel()
	d := document.Read(task(`"Resource": "${Fn}", "TimeoutSeconds": ${T}`), document.Options{})
	if got := fmt.Sprint(d.Needed); got != "[T]" {
		t.Error(got)
	}
}

func TestPlacesInYAML(t *testing.T) {
	t.Parallel()
	const text = `# Über uns
Comment: ${Text}
StartAt: Größe
States:
  Größe:
    Type: Choice
    Choices:
      - Variable: 'x'
        IsPresent: true
        Next: End
      - { Variable: "$.é", IsNull: true, Next: "Nirgends" }
    Default: End
  End:
    Type: Succeed
    Extra:
      - 1
`
	d := document.Read(text, document.Options{YAML: true, Values: map[string]string{"Text": "a longer text"}})
	var got []string
	for _, f := range d.Diagnose(check) {
		got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, text[f.Span.Start:f.Span.End], f.Location))
	}
	want := []string{
		`8:19 'x' /States/Größe/Choices[0]/Variable`,
		`15:5 Extra /States/End`,
		`11:48 "Nirgends" /States/Größe/Choices[1]/Next`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLongLinesOfYAMLAreReadInTime(t *testing.T) {
	t.Parallel()
	text := "{Comment: [" + strings.Repeat("'it''s', ", 10_000) +
		"], StartAt: 'A ''quoted'' name', States: {A: {Type: Pass, Nxt: 'B'}}}"
	d := document.Read(text, document.Options{YAML: true})
	var got []string
	for _, f := range d.Diagnose(check) {
		got = append(got, text[f.Span.Start:f.Span.End])
	}
	if want := []string{"Comment", "Nxt", "A", "'A ''quoted'' name'"}; !slices.Equal(got, want) {
		t.Errorf("%d found: %q, want %q", len(got), got, want)
	}
}

func TestManyPlaceholdersAreReadInTime(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "\"${%d}\",", i)
	}
	if d := document.Read("["+text.String()+"1]", document.Options{}); len(d.Open) != 10_000 || len(d.Problems) > 0 {
		t.Errorf("%d placeholders, problems %v", len(d.Open), d.Problems)
	}
}

func TestIsYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"\n {\"StartAt\": 1}": false, "StartAt: A": true, "Comment: x\r\nStates:\r\n": true, "": false, "null": false,
		"a\n  States:": false,
	} {
		if got := document.IsYAML(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
