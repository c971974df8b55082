package simulation_test

import (
	"testing"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
)

func parse(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func named(t testing.TB, name string) *policy.Policy {
	t.Helper()
	p, err := policy.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t testing.TB, s *scenario.Scenario, p *policy.Policy, seed uint64) *simulation.Result {
	t.Helper()
	res, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: p, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

const blip = `
lab: 1
name: blip
duration: 3600
warmup: 300
workload:
  - name: events
    arrivals: {process: poisson, rate: 20}
    machine: {state: Save, retry: "pattern:database_optimized"}
service:
  db: {servers: 5, time: {exp: 0.2}, queue: {capacity: 1000}}
calls: {Save: {service: db, timeout: 2, timeoutError: TimeoutError, cost: lambda-1024}}
faults:
  - {at: 600, for: 30, service: db, errors: {p: 1, after: 0.05, name: DatabaseConnectionError}}
`

// BenchmarkAttempts measures how many attempts per second one core simulates.
func BenchmarkAttempts(b *testing.B) {
	for _, name := range []string{"static", "adaptive"} {
		b.Run(name, func(b *testing.B) {
			s, p := parse(b, blip), named(b, name)
			b.ReportAllocs()
			attempts := int64(0)
			for i := 0; b.Loop(); i++ {
				attempts += run(b, s, p, uint64(i)).Check.Calls
			}
			b.ReportMetric(float64(attempts)/b.Elapsed().Seconds(), "attempts/s")
		})
	}
}
