package main

import (
	"path/filepath"
	"testing"

	"stepback/aws"
	"stepback/cmd/stepback/exit"
	"stepback/local/services/logs/logstore"
)

func TestLogsOfALogGroup(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "logs", "/g", "--data", data).complains(t, exit.Failure, "there are no log groups in "+data)
	store, err := logstore.Open(filepath.Join(data, "logs", "groups"), logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	here := aws.Scope{Account: "000000000000", Region: "us-east-1"}
	if err := store.CreateGroup(here, logstore.Group{Name: "/g"}); err != nil {
		t.Fatal(err)
	}
	for stream, message := range map[string]string{"states/m": `{"id":"1"}`,
		"log_stream_created_by_aws_to_validate": "Permissions are set"} {
		if err := store.Append(here, "/g", stream,
			[]logstore.Event{{Time: 1_700_000_000_123, Message: message}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := stepback(t, "logs", "/g", "--data", data); got.code != exit.OK ||
		got.out != "2023-11-14T22:13:20.123Z {\"id\":\"1\"}\n" {
		t.Errorf("%d %q %q", got.code, got.out, got.err)
	}
	stepback(t, "logs", "/h", "--data", data).complains(t, exit.Failure, "there are /g")
}

func TestLogs(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "logs", "f", "--data", data).complains(t, exit.Failure, "no function has logged yet in "+data)
	store, err := logstore.Open(filepath.Join(data, "logs", "groups"), logstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	here := aws.Scope{Account: "000000000000", Region: "us-east-1"}
	for name, lines := range map[string][]string{"f": {"1", "2\n", "3", "4"}, "g": {"5"}} {
		if err := store.CreateGroup(here, logstore.Group{Name: "/aws/lambda/" + name}); err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			err := store.Append(here, "/aws/lambda/"+name, "s",
				[]logstore.Event{{Time: int64(1000 + i), Message: line}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		function, lines, want string
	}{{"f", "0", "1\n2\n3\n4\n"}, {"f", "3", "2\n3\n4\n"}, {"f", "9", "1\n2\n3\n4\n"}, {"f", "1", "4\n"},
		{"g", "5", "5\n"}} {
		if got := stepback(t, "logs", c.function, "--data", data, "-n", c.lines); got.code != exit.OK ||
			got.out != c.want {
			t.Errorf("%s %s: %d %q %q", c.function, c.lines, got.code, got.out, got.err)
		}
	}
	stepback(t, "logs", "h", "--data", data).complains(t, exit.Failure, "there is no log of a function h in "+data+
		"; there are f, g")
}
