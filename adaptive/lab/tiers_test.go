package lab_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
)

// tiered is a Map of 100 items, one at a time. Every call of the service to its database fails.
const tiered = `
lab: 1
name: tiered
duration: 60
workload:
  - name: rows
    map: {items: 100, maxConcurrency: 1}
    machine: {state: Save, retry: [{errors: [States.ALL], interval: 1, rate: 1, maxAttempts: 3}]}
service:
  db:
    servers: 1
    time: {constant: 0.01}
    queue: {capacity: 0, rejection: Full}
    errors: [{name: Away, p: 1, kind: load}]
  api:
    servers: 10
    time: {constant: 0.01}
    calls: {service: db, retry: [{errors: [Away], interval: 1, rate: 1, maxAttempts: 2}]}
calls: {Save: {service: api}}
`

// tiersOf runs a scenario under the policies none and static.
func tiersOf(t *testing.T, text string) *lab.Report {
	t.Helper()
	s, err := scenario.Parse("tiered.yaml", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := lab.Experiment{Scenarios: []*scenario.Scenario{s}, Seeds: 2, FirstSeed: lab.FirstReportedSeed}
	for _, name := range []string{"none", "static"} {
		p, err := policy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		e.Policies = append(e.Policies, p)
	}
	r, err := lab.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Where services call services, the report shows the load of each, and so where retries multiply: four calls of the
// state, of which each makes three.
func TestTheLoadOfEachTierIsReported(t *testing.T) {
	t.Parallel()
	r := tiersOf(t, tiered)
	var text, file bytes.Buffer
	r.WriteTable(&text)
	const want = `load of the services, from the records down
  policy  service  calls/s at most  calls/record  calls for each above  refused %  failed %
  none        api              0.5          1.00                  1.00       0.00    100.00
  none         db              1.5          3.00                  3.00       0.00    100.00
  static      api              0.4          4.00                  4.00       0.00    100.00
  static       db              1.1         12.00                  3.00       0.00    100.00
`
	if !strings.Contains(text.String(), want) {
		t.Errorf("%s\nwant\n%s", &text, want)
	}
	if err := r.WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results []struct {
			Tiers []struct {
				Service      string
				CallsPerCall struct{ Mean float64 }
				Failed       struct{ Mean, Low, High float64 }
			}
		}
	}
	if err := json.Unmarshal(file.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if x := got.Results[1].Tiers; len(x) != 2 || x[0].Service != "api" || x[0].CallsPerCall.Mean != 4 ||
		x[0].Failed.Mean != 1 || x[1].Service != "db" {
		t.Errorf("%+v", x)
	}
	// Of two items at a time, one finds the database in use: such calls are refused, and the others fail.
	db := tiersOf(t, strings.Replace(tiered, "maxConcurrency: 1", "maxConcurrency: 2", 1)).Results[0].Tiers[1]
	sum := db.Refused.Mean + db.Failed.Mean
	if db.Refused.Mean < 0.3 || db.Failed.Mean < 0.3 || math.Abs(sum-1) > 1e-12 {
		t.Errorf("%+v", db)
	}
	// A scenario without such calls has no such table.
	r = tiersOf(t, strings.Replace(tiered, "    calls: {service: db, retry: "+
		"[{errors: [Away], interval: 1, rate: 1, maxAttempts: 2}]}\n", "", 1))
	text.Reset()
	if r.WriteTable(&text); strings.Contains(text.String(), "load of the services") || r.Results[0].Tiers != nil {
		t.Errorf("%s", &text)
	}
}
