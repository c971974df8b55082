package functions_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/lambda/invocation"
)

func TestFunctionOfAnotherAccountIsNamed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := open(t, t.TempDir(), functions.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	create(t, s, python(t, source("one")))
	_, err := s.In(aws.Scope{Account: "123456789012", Region: home.Region}).Invoke(t.Context(),
		&invocation.Request{FunctionName: "F", Payload: []byte(`{}`)})
	if err == nil {
		t.Fatal("a function of another account was invoked")
	}
	for _, want := range []string{"--account", "123456789012:function:F", "there=arn:aws:lambda:" + home.Region + ":" +
		home.Account + ":function:F"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
}
