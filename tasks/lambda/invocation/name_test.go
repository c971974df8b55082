package invocation_test

import (
	"regexp"
	"testing"

	"stepback/tasks/lambda/invocation"
)

func TestParseName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]invocation.Name{
		"f":                         {Function: "f"},
		"f:live":                    {Function: "f", Qualifier: "live"},
		"function:f:$LATEST":        {Function: "f", Qualifier: "$LATEST"},
		"123456789012:function:f":   {Account: "123456789012", Function: "f"},
		"123456789012:function:f:1": {Account: "123456789012", Function: "f", Qualifier: "1"},
		"arn:aws:lambda:eu-west-1:123456789012:function:f": {Account: "123456789012", Region: "eu-west-1",
			Function: "f"},
		"arn:aws-cn:lambda:cn-north-1:123456789012:function:f:1": {Account: "123456789012", Region: "cn-north-1",
			Function: "f", Qualifier: "1"},
	} {
		if got, err := invocation.ParseName(text, ""); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "a b", "f:", "f:1:2", "arn:aws:lambda:eu-west-1:123456789012:f",
		"arn:aws:s3:::bucket", "../f"} {
		if got, err := invocation.ParseName(text, ""); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func FuzzParseName(f *testing.F) {
	f.Add("arn:aws:lambda:eu-west-1:123456789012:function:f:1", "1")
	f.Add("123456789012:function:f", "")
	f.Fuzz(func(t *testing.T, name, qualifier string) {
		n, err := invocation.ParseName(name, qualifier)
		if err == nil && (!plainName.MatchString(n.Function) || qualifier != "" && n.Qualifier != qualifier) {
			t.Errorf("%q %q: %+v", name, qualifier, n)
		}
	})
}
