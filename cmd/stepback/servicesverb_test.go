package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stepback/aws/server"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

func TestServices(t *testing.T) {
	t.Parallel()
	ask := func(code int, args ...string) (out, problems string) {
		t.Helper()
		var o, p strings.Builder
		if got := execute(t.Context(), append([]string{"services"}, args...), terminal.Streams{Out: &o, Err: &p}); got != code {
			t.Errorf("%v: exit status %d, want %d: %s", args, got, code, p.String())
		}
		return o.String(), p.String()
	}
	if out, _ := ask(exit.OK); !strings.Contains(out, "DynamoDB Streams") || strings.Contains(out, "GetItem") {
		t.Error(out)
	}
	if out, _ := ask(exit.OK, "cloudwatch-logs"); !strings.Contains(out, "FilterLogEvents") || !strings.Contains(out, "not supported") {
		t.Error(out)
	}
	out, _ := ask(exit.OK, "sqs", "--json")
	var all []server.Coverage
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 || all[0].Share != 100 ||
		all[0].Operations[0].Name != "AddPermission" {
		t.Errorf("%v %s", err, out)
	}
	if _, said := ask(exit.Usage, "nosuch"); said != "stepback: no service nosuch; stepback services lists them\n" {
		t.Error(said)
	}
}
