package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestDashboardRender(t *testing.T) {
	t.Parallel()
	data, drawn := t.TempDir(), t.TempDir()
	csv := filepath.Join(drawn, "activity.csv")
	stepback(t, "sample", "--rows", "200", "-o", csv).ends(t, exit.OK)
	stepback(t, "run", "--data", data, "--csv", csv, "--virtual-time", "--seed", "1", "--fault",
		"ProcessSingleUserRecord:throttle:5%").ends(t, exit.OK, "SUCCEEDED")
	for name, begins := range map[string]string{"a.html": "<!doctype html>", "a.svg": "<svg ", "a.png": "\x89PNG"} {
		file := filepath.Join(drawn, name)
		stepback(t, "dashboard", "render", "--data", data, "-o", file).ends(t, exit.OK, file)
		if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), begins) {
			t.Errorf("%s begins with %.20q (%v)", name, text, err)
		}
	}
	for form, begins := range map[string]string{"-": "<!doctype html>", "svg": "<svg ", "png": "\x89PNG"} {
		s := stepback(t, "dashboard", "render", "--data", data, "-o", form)
		if s.ends(t, exit.OK); !strings.HasPrefix(s.out, begins) {
			t.Errorf("-o %s writes %.20q", form, s.out)
		}
	}
	stepback(t, "dashboard", "render", "--data", data, "-o", "-", "--json").complains(t, exit.Usage, "name a file with -o")
}

func TestDashboardRenderComplains(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for want, args := range map[string][]string{
		"name a file that ends in .html, .svg or .png":                 {"--data", data, "-o", "retry.gif"},
		"name their data directory with --data":                        {"--data", filepath.Join(data, "nowhere")},
		`the endpoint "localhost:5000" is not a URL like http://local`: {"--endpoint", "localhost:5000"},
		"use at least 1m": {"--endpoint", "http://localhost:5000",
			"--since", "5s"},
	} {
		stepback(t, append([]string{"dashboard", "render"}, args...)...).complains(t, exit.Usage, want)
	}
}

func TestDashboardBody(t *testing.T) {
	t.Parallel()
	said := stepback(t, "dashboard", "body", "--state-machine", "csv-import-dev", "--account", "123456789012", "--level", "ERROR")
	said.ends(t, exit.OK, `"arn:aws:cloudwatch:us-east-1:123456789012:alarm:csv-import-dev-dead-letters"`, `"TaskFailures"`)
	if !json.Valid([]byte(said.out)) || strings.Contains(said.out, `"RetryAttempts"`) {
		t.Error("the body is no JSON, or shows what level ERROR does not tell")
	}
	general := stepback(t, "dashboard", "body", "--state-machine", "orders", "--account", "123456789012")
	general.ends(t, exit.OK, `"arn:aws:cloudwatch:us-east-1:123456789012:alarm:orders-executions-failed"`, `"Failed executions"`)
	if strings.Contains(general.out, "dead-letters") || strings.Contains(general.out, "Rows") {
		t.Error("the dashboard of a state machine that is not the import shows rows")
	}
}
