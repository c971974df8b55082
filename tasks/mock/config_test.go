package mock_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stepback/tasks/mock"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	response := func(body string) string {
		return `{"StateMachines":{},"MockedResponses":{"R":` + body + `}}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":   {"{\n  \"StateMachines\": }", "line 2, column 20: "},
		"no object": {`[]`, "the configuration must be an object with StateMachines and MockedResponses"},
		"nothing":   {`{}`, "MockedResponses must be an object\nStateMachines must be an object"},
		"no test cases": {`{"StateMachines":{"M":{}},"MockedResponses":{}}`,
			"StateMachines.M.TestCases must be an object"},
		"unknown response": {`{"StateMachines":{"M":{"TestCases":{"C":{"S":"R"}}}},"MockedResponses":{}}`,
			"StateMachines.M.TestCases.C.S names the response R, which MockedResponses does not have"},
		"no name": {`{"StateMachines":{"M":{"TestCases":{"C":{"S":7}}}},"MockedResponses":{}}`,
			"StateMachines.M.TestCases.C.S must be the name of a mocked response"},
		"no number": {response(`{"first":{"Return":1}}`),
			`MockedResponses.R.first is not the number of an invocation or a range of them, such as "0" or "1-2"`},
		"backwards": {response(`{"2-1":{"Return":1}}`),
			`MockedResponses.R.2-1 is not the number of an invocation or a range of them, such as "0" or "1-2"`},
		"huge": {response(`{"0-2000000000":{"Return":1}}`),
			`MockedResponses.R.0-2000000000 is not the number of an invocation or a range of them, such as "0" or "1-2"`},
		"a gap": {response(`{"0":{"Return":1},"2":{"Return":1}}`),
			"MockedResponses.R.2 must continue with invocation 1: every invocation from 0 needs one response"},
		"an overlap": {response(`{"0-2":{"Return":1},"2":{"Return":1}}`),
			"MockedResponses.R.2 must continue with invocation 3: every invocation from 0 needs one response"},
		"neither": {response(`{"0":{}}`), "MockedResponses.R.0 needs either Return or Throw"},
		"both": {response(`{"0":{"Return":1,"Throw":{"Error":"E"}}}`),
			"MockedResponses.R.0 needs either Return or Throw"},
		"an error of no name": {response(`{"0":{"Throw":{"Cause":"c"}}}`),
			"MockedResponses.R.0.Throw.Error must be the name of an error"},
		"a cause that is not text": {
			response(`{"0":{"Throw":{"Error":"E","Cause":1}}}`), "MockedResponses.R.0.Throw.Cause must be text",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mock.Parse([]byte(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(config))
	f.Add([]byte(`{"StateMachines":{"M":{"TestCases":{"C":{"S":null}}}},"MockedResponses":{"R":{"0":[],"1-":{}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := mock.Parse(text)
		if err != nil {
			return
		}
		for _, m := range c.Machines() {
			for _, name := range c.TestCases(m) {
				if _, err := c.Execution(m, name); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestFileIsReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mocks.json")
	write := func(text string, at time.Time) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	write(`{"StateMachines":{"M":{"TestCases":{"A":{}}}},"MockedResponses":{}}`, start)
	f, err := mock.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Execution("M", "A"); err != nil {
		t.Error(err)
	}
	write(`{"StateMachines":{"M":{"TestCases":{"B":{}}}},"MockedResponses":{}}`, start.Add(time.Second))
	const want = "the mock configuration has no test case A of the state machine M; it has B"
	if _, err := f.Execution("M", "A"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	write("\ufeff"+`{"StateMachines":{"M":{"TestCases":{"C":{}}}},"MockedResponses":{}}`, start.Add(3*time.Second))
	if _, err := f.Execution("M", "C"); err != nil {
		t.Error(err)
	}
	write(`{`, start.Add(2*time.Second))
	if _, err := f.Execution("M", "B"); err == nil || !strings.HasPrefix(err.Error(), "mock configuration "+path+
		": line 1, column 2: ") {
		t.Errorf("got %v", err)
	}
}

func TestOpenWithoutAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.json")
	if _, err := mock.Open(path); !errors.Is(err, fs.ErrNotExist) ||
		err.Error() != "mock configuration "+path+": no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func TestNamesThatAreNotThere(t *testing.T) {
	t.Parallel()
	c, err := mock.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ machine, name, want string }{
		{"m", "Happy", "the mock configuration has no state machine m; it has M; did you mean M?"},
		{"M", "Hapy", "the mock configuration has no test case Hapy of the state machine M; it has Broken, Empty, Happy, " +
			"Hybrid, Late, Misspelt, Numbered, Retried; did you mean Happy?"},
	} {
		if _, err := c.Execution(test.machine, test.name); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}
