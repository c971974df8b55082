package main

import (
	"bytes"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"stepback/awsapi/awsjson"
	"stepback/engine/interpreter"
	"stepback/engine/journal/pebble"
)

// TestServedExecutionsGoOnAfterARestart leaves an execution under way in two accounts and opens their journal again.
func TestServedExecutionsGoOnAfterARestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal")
	scopes := []awsjson.Scope{{Account: "000000000000", Region: "us-east-1"}, {Account: "111111111111", Region: "eu-west-1"}}
	serve := func(w io.Writer, use func(*engines)) {
		t.Helper()
		j, err := pebble.Open(dir, pebble.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := newEngines(j, &services{endpoint: "http://127.0.0.1:1"}, newSurroundings(), slog.New(slog.DiscardHandler))
		if err := e.recover(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		use(e)
		e.close()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var arns []string
	serve(io.Discard, func(s *engines) {
		for _, scope := range scopes {
			e, err := s.open(scope)
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.CreateStateMachine("m", `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}`, "", false)
			if err != nil {
				t.Fatal(err)
			}
			arn, err := e.StartExecution(t.Context(), m.ARN, "e", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			arns = append(arns, arn)
		}
	})
	var said bytes.Buffer
	serve(&said, func(s *engines) {
		for i, scope := range scopes {
			e, err := s.open(scope)
			if err != nil {
				t.Fatal(err)
			}
			x, err := e.DescribeExecution(t.Context(), arns[i])
			if err != nil || x.Status != interpreter.Running || len(e.Running(x.MachineARN)) != 1 {
				t.Errorf("%+v, %v", x, err)
			}
			if want := "1 executions of account " + scope.Account + " in " + scope.Region + " go on"; !strings.Contains(said.String(), want) {
				t.Errorf("no word of %q in %s", want, said.String())
			}
		}
	})
}
