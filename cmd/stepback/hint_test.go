package main

import (
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestHelpAndVersionAreVerbs(t *testing.T) {
	t.Parallel()
	stepback(t, "help").ends(t, exit.OK, "for more information on a command")
	stepback(t, "help", "exec").ends(t, exit.OK, "stepback exec order.asl.json --input")
	stepback(t, "version").ends(t, exit.OK, "stepback ")
}

func TestWhatWasMeantIsSaid(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"run x.csv":      "unexpected argument x.csv; did you mean --csv x.csv?",
		"run x.asl.json": "unexpected argument x.asl.json; run imports a CSV file; did you mean stepback exec x.asl.json?",
		"run -csv x.csv": "unknown flag -c; did you mean --csv?",
		"ls":             "unexpected argument ls; did you mean stepback executions?",
		"run --data d --fault ProcessSingleUserRecord:DatabaseConectionError:5%": "did you mean DatabaseConnectionError? (to inject it anyway, " +
			"write custom=DatabaseConectionError)",
	} {
		stepback(t, strings.Fields(args)...).complains(t, exit.Usage, want)
	}
}

// TestTheReportNamesTheDataDirectory runs the commands that a report prints at its end.
func TestTheReportNamesTheDataDirectory(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "my data")
	s := stepback(t, "run", "--data", data, "--csv", write(t, "user_id,login_count,post_count\nu1,1,2\n"))
	s.ends(t, exit.OK)
	_, rest, ok := strings.Cut(s.out, "stepback history ")
	name, rest, _ := strings.Cut(rest, " ")
	flags := "--data '" + data + "'"
	if !ok || !strings.HasPrefix(rest, flags+"\n") || !strings.Contains(rest, name+" --children "+flags) {
		t.Fatalf("the report ends with %q", rest)
	}
	stepback(t, "history", name, "--data", data).ends(t, exit.OK, "ExecutionSucceeded")
	stepback(t, "history", name, "--children", "--data", data).ends(t, exit.OK, "SUCCEEDED")
}
