package javapattern

import (
	"regexp"
	"strings"
	"testing"

	"stepback/aws/model"
)

// Patterns matched without package regexp give the same results as with it.
func TestPatternsOfCharacters(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "Z", "a-b_c.d", "é", "a\n", "\n", "aé", strings.Repeat("a", 64), strings.Repeat("a", 65), "\x7f", "\xff",
		"a b", "0123456789"}
	for text, fast := range map[string]bool{
		`[a-zA-Z0-9_.-]+`: true, `[a-zA-Z0-9]{1,64}`: true, `[a-z]*`: true, `^[0-9]{2,}$`: true, `([a-z]+)`: true,
		`\d{10}`: true, `[\x00-\x7f]*`: true, `[^a]+`: false, `a+`: false, `[a-z]+-[a-z]+`: false, `.+`: false,
		`[a-z]+|[0-9]+`: false, `(?i)[a-z]+`: false, `[a-z]+?`: true, `[\s\S]*`: false, `[a-z]+$^`: false,
	} {
		p, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := p.(*characters); is != fast {
			t.Errorf("%s: %v matched by characters, want %v", text, is, fast)
		}
		r := regexp.MustCompile(`\A(?:` + text + `)\z`)
		for _, s := range texts {
			if got, want := p.MatchString(s), r.MatchString(s); got != want {
				t.Errorf("%s and %q: %v, want %v", text, s, got, want)
			}
		}
	}
}

// TestPatternsOfJava tests elements that only Java's regular expressions have.
func TestPatternsOfJava(t *testing.T) {
	t.Parallel()
	for text, matches := range map[string]map[string]bool{
		// IAM's pathType.
		`(\u002F)|(\u002F[\u0021-\u007E]+\u002F)`: {"/": true, "/a/b/": true, "a": false, "/a": false, "/ä/": false},
		// IAM's policyDocumentType.
		`[\u0009\u000A\u000D\u0020-\u00FF]+`: {"{\n\t}": true, "ÿ": true, "Ā": false, "\x00": false},
		// The arnType of STS.
		`[\u0009\u000A\u000D\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u10000-\u10FFFF]+`: {"arn:aws:iam::1:role/ä": true,
			"😀": true, "\x01": false},
		// DynamoDB's AutoScalingRoleArn.
		`[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*`: {"a\n": true, "😀": true, "\x01": false},
		`\p{Print}+`: {"a b": true, "ä": false}, `\p{ASCII}*`: {"a\x00": true, "ä": false},
	} {
		p, err := Compile(text)
		if err != nil {
			t.Error(err)
			continue
		}
		for s, want := range matches {
			if got := p.MatchString(s); got != want {
				t.Errorf("%s and %q: %v, want %v", text, s, got, want)
			}
		}
	}
}

// TestPatternsWithLookarounds tests the patterns with lookarounds that models have, and other forms.
func TestPatternsWithLookarounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 61)
	for text, matches := range map[string]map[string]bool{
		`^(?=.*[a-zA-Z_\-\.])[a-zA-Z0-9_\-\.]+$`: {"live": true, "v-7": true, "7.": true, "7": false, "two words": false,
			"!x": false, "x@": false, "": false},
		`^(?!\s*$).+`:                  {"x": true, " x": true, "{\n}": true, " ": false, "\n": false, "": false},
		`((?!^\d+$)^[0-9a-zA-Z-_]+$)`:  {"live": true, "7a": true, "77": false, "a b": false},
		`(?!^[0-9]+$)([a-zA-Z0-9-_]+)`: {"live": true, "1a": true, "12": false, "": false},
		// IAM's accountAliasType: no two hyphens in a row, none at an end.
		`^[a-z0-9]([a-z0-9]|-(?!-)){1,61}[a-z0-9]$`: {"abc": true, "a-c": true, "a-b-c": true, "a--c": false, "-bc": false,
			"ab-": false, "ab": false, "Abc": false, "b" + long + "c": true, "bb" + long + "c": false},
		// Scheduler's Source: not one of AWS's, or a path.
		`^(?=[/\.\-_A-Za-z0-9]+)((?!aws\.).*)|(\$(\.[\w_-]+(\[(\d+|\*)\])*)*)$`: {"my.app": true, "aws.s3": false, "aws": true,
			"$.detail[0].x": true, "$.a[*]": true, "$.a[x]": false, "": false, "!x": false},
		// Lambda's S3Bucket: no dot at the end.
		`[0-9A-Za-z\.\-_]*(?<!\.)`: {"bucket": true, "a.b": true, "a.": false, ".": false, "a b": false},
		// Lambda's CollectionName: not in the system's namespace.
		`(^(?!(system\x2e)))(^[_a-zA-Z0-9])([^$]*)`: {"orders": true, "systems": true, "system.users": false, "a$": false},
		`(?=a)(?!ab)[a-z]+`:                         {"ac": true, "ab": false, "ba": false},
		`(?=[)(])[()]+`:                             {")(": true, "x": false},
		`^(?=a)a|b$`:                                {"a": true, "b": true, "ab": false},
		`[a-z](?=b)b`:                               {"ab": true, "bb": true, "ac": false},
		`a*(?<=aa)b`:                                {"aab": true, "ab": false, "b": false},
		`(?i)(?!b)[a-c]x`:                           {"Ax": true, "aX": true, "Bx": false},
		`(?!x)\bab\b.*`:                             {"ab": true, "ab c": true, "abc": false},
		`(?!b)(a?|ba){2,}`:                          {"": true, "aba": true, "ba": false, "abab": false},
		`[(?=]+`:                                    {"(?=": true, "a": false},
		`(?=a`:                                      nil,
		`(a)(?=\1)`:                                 nil,
	} {
		p, err := Compile(text)
		if (err != nil) != (matches == nil) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for s, want := range matches {
			if got := p.MatchString(s); got != want {
				t.Errorf("%s and %q: %v, want %v", text, s, got, want)
			}
		}
	}
}

// TestLargeRepetitions tests the patterns of models that repeat more often than Go's regular expressions can.
func TestLargeRepetitions(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	url := "https://bucket.s3.us-east-1.amazonaws.com/"
	for text, matches := range map[string]map[string]bool{
		// SSM's InstancePropertyFilterValue and InstancePropertyStringFilterKey.
		`^.{1,100000}$`: {"": false, "x": true, long(1001): true, long(100000): true, long(100001): false},
		// SSM's TargetLocationsURL.
		`^https:\/\/[-a-zA-Z0-9@:%._\+~#=]{1,253}\.s3(\.[a-z\d-]{9,16})?\.amazonaws\.com\/.{1,2000}`: {url: false, url + "k": true,
			url + long(2000): true, url + long(2001): false, "http" + url[5:] + "k": false, "https://b.example.com/k": false},
		`a{1001}`: {long(1001): false, strings.Repeat("a", 1001): true, strings.Repeat("a", 1000): false}, `(b{2}a){1500,}`: {
			strings.Repeat("bba", 1500): true, strings.Repeat("bba", 1499): false, strings.Repeat("bba", 4000): true},
		`a{1000}b{1001}`: {strings.Repeat("a", 1000) + strings.Repeat("b", 1001): true, strings.Repeat("a", 1001) +
			strings.Repeat("b", 1000): false}, `[{2000}]+`: {"{2}": true, "a": false}, `a{2000`: {"a{2000": true},
	} {
		p, err := Compile(text)
		if (err != nil) != (matches == nil) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for s, want := range matches {
			if got := p.MatchString(s); got != want {
				t.Errorf("%s and %d characters: %v, want %v", text, len(s), got, want)
			}
		}
	}
}

// served are the models of the services of package local.
var served = strings.Fields(`apigatewayv2 cloudcontrol cloudformation cloudwatch cloudwatchlogs dynamodb dynamodbstreams ecr
	eventbridge iam kms lambda pipes s3 scheduler secretsmanager sfn sns sqs ssm sts xray`)

// TestEveryPatternIsChecked compiles the patterns of all inputs of the services.
func TestEveryPatternIsChecked(t *testing.T) {
	t.Parallel()
	for _, name := range served {
		s, err := model.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[*model.Shape]bool{}
		var check func(of *model.Shape)
		check = func(of *model.Shape) {
			if of == nil || seen[of] {
				return
			}
			seen[of] = true
			if of.Pattern != "" && of.Type == model.String {
				if _, err := Compile(of.Pattern); err != nil {
					t.Errorf("%s, %s: %s is not checked: %v", name, of.Name, of.Pattern, err)
				}
			}
			for _, m := range append([]*model.Member{of.Element, of.Key}, of.Members...) {
				if m != nil {
					check(m.Shape)
				}
			}
		}
		for _, operation := range s.Operations() {
			o, err := s.Operation(operation)
			if err != nil {
				t.Fatal(err)
			}
			check(o.Input)
		}
	}
}

// Nested repetitions over a long text, and a lookahead at its start, end soon.
func TestLookaroundsDoNotBacktrack(t *testing.T) {
	t.Parallel()
	p, err := Compile(`(?!b)(a|aa|(a?){1,3})*c`)
	if err != nil {
		t.Fatal(err)
	}
	if p.MatchString(strings.Repeat("a", 2000)) || !p.MatchString(strings.Repeat("a", 2000)+"c") {
		t.Error("2,000 characters")
	}
}
