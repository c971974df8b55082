package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

const shortScenario = `lab: 1
name: short
about: a minute of calls, of which half fail
duration: 60
workload: [{name: w, arrivals: {process: poisson, rate: 5}, machine: {state: Save, retry: "pattern:aggressive"}}]
service: {s: {servers: 10, time: 0.1, errors: [{name: InternalServerError, p: 0.5}]}}
calls: {Save: {service: s, timeout: 1}}
expect: [{policy: static, metric: success, is: ">= 0.9"}, {policy: none, metric: success, is: ">= 0.9"}]
`

func TestLabRun(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "short.yaml")
	if err := os.WriteFile(file, []byte(shortScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "lab", "run", file, "--policy", "static", "--seeds", "3").ends(t, exit.OK,
		"short, seeds 10000 to 10002", "met      short: static: success >= 0.9", "not run  short: none")
	stepback(t, "lab", "run", file, "--policy", "none", "--seeds", "3").ends(t, exit.Failure, "NOT MET  short: none")
	var report struct{ Results []struct{ Policy string } }
	out := stepback(t, "lab", "run", file, "--policy", "none,static", "--seeds", "2", "--first-seed", "7", "--json")
	if err := json.Unmarshal([]byte(out.out), &report); err != nil || len(report.Results) != 2 {
		t.Errorf("%v, %v in %s", report, err, out.out)
	}
	stepback(t, "lab", "run", "nowhere").complains(t, exit.Usage, `there is no scenario "nowhere"`)
	stepback(t, "lab", "run", file, "--seeds", "1000000000").complains(t, exit.Usage,
		"1000000000 seeds are out of range")
	wrong := strings.Replace(shortScenario, "servers: 10", "servers: -1", 1)
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "lab", "run", file).complains(t, exit.Usage, "short.yaml:6:24: service.s.servers: -1 is out of range")
}

func TestLabListAndChart(t *testing.T) {
	t.Parallel()
	stepback(t, "lab", "list").ends(t, exit.OK, "outage-30s", "adaptive")
	stepback(t, "lab", "list", "adaptive").ends(t, exit.OK, "policy: 1\nname: adaptive")
	stepback(t, "lab", "list", "nothing").complains(t, exit.Usage, "there is no scenario")
	picture := filepath.Join(t.TempDir(), "map.svg")
	stepback(t, "lab", "chart", "calm", "--panel", "goodput", "--policy", "none", "--seeds", "2", "-o", picture).ends(t,
		exit.OK, picture)
	if text, err := os.ReadFile(picture); err != nil || !strings.Contains(string(text), "records saved per second") {
		t.Errorf("%v, %.100s", err, text)
	}
	stepback(t, "lab", "chart", "-o", "picture.gif").complains(t, exit.Usage, "name a file that ends in .svg or .png")
}

func TestJitterCommand(t *testing.T) {
	t.Parallel()
	stepback(t, "jitter", "--clients", "5,10", "--trials", "3").ends(t, exit.OK, "clients", "decorrelated", "10 calls")
	stepback(t, "jitter", "--clients", "5", "--trials", "1", "--json").ends(t, exit.OK, `"strategy": "full"`)
	stepback(t, "jitter", "--clients", "0").complains(t, exit.Usage, "0 clients are out of range")
}
