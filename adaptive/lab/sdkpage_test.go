package lab_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/retry"
)

var update = flag.Bool("update", false, "write docs/sdk-retries.md instead of comparing with it")

// fleet is a way in which the calls of the page are spread over clients.
type fleet struct {
	name    string
	clients int
}

var fleets = []fleet{{"one client", 1}, {"2,000 clients", 2000}}

// trouble is a scenario of the page: eleven minutes of 20 calls a second to a callee that can do 25 or 40 of them.
type trouble struct {
	name, title    string
	servers        int    // of 0.2 s each
	queue          string // of the service
	errors, faults string
	asked          int // seconds that the callee asks for by x-amz-retry-after; 0: it does not
}

var troubles = []trouble{
	{name: "errors", title: "3 % of the calls fail by chance, half-loaded callee", servers: 8,
		errors: "errors: [{name: InternalServerError, p: 0.03}]"},
	{name: "failover", title: "every call fails for 2 s, half-loaded callee", servers: 8,
		faults: "{at: 120, for: 2, service: callee, errors: {p: 1, after: 0.02, name: ServiceUnavailableError}}"},
	{name: "outage", title: "every call fails for 30 s, callee at 80 % load", servers: 5,
		faults: "{at: 120, for: 30, service: callee, errors: {p: 1, after: 0.02, name: ServiceUnavailableError}}"},
	{name: "brown-out", title: "the callee works at half its speed for 60 s, at 80 % load", servers: 5,
		faults: "{at: 120, for: 60, service: callee, capacity: 0.5}"},
	{name: "throttles", title: "the callee throttles above 12 calls at once and has half its servers for 60 s", servers: 5,
		queue:  "{capacity: 7, rejection: ThrottlingException}",
		faults: "{at: 120, for: 60, service: callee, capacity: 0.5}"},
	{name: "throttles-asked", title: "the same, and it asks for 3 s by `x-amz-retry-after`", servers: 5, asked: 3,
		queue:  "{capacity: 7, rejection: ThrottlingException}",
		faults: "{at: 120, for: 60, service: callee, capacity: 0.5}"},
}

func (x *trouble) scenario(t *testing.T) *scenario.Scenario {
	t.Helper()
	queue := x.queue
	if queue == "" {
		queue = "{capacity: 1000}"
	}
	errs := x.errors
	if errs == "" {
		errs = "errors: []"
	}
	text := fmt.Sprintf(`
lab: 1
name: %s
about: a page of the documentation
duration: 720
warmup: 60
drain: 300
workload:
  - name: calls
    arrivals: {process: poisson, rate: 20}
    machine: {state: Call, retry: [{errors: [States.ALL], maxAttempts: 1}]}
service:
  callee: {servers: %d, time: {exp: 0.2}, queue: %s, %s}
calls: {Call: {service: callee, timeout: 2, timeoutError: TimeoutError, cost: lambda-1024}}
faults: [%s]
`, x.name, x.servers, queue, errs, x.faults)
	s, err := scenario.Parse(x.name+".yaml", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (x *trouble) policies(t *testing.T) []*policy.Policy {
	t.Helper()
	none, err := policy.Named("none")
	if err != nil {
		t.Fatal(err)
	}
	all := []*policy.Policy{none}
	for _, f := range fleets {
		all = append(all, sdkPolicy(t, 2025, f.clients, x.asked), sdkPolicy(t, 2026, f.clients, x.asked))
	}
	return all
}

const pageSeeds = 20

// run runs one trouble of the page under policies.
func (x *trouble) run(t *testing.T, policies []*policy.Policy) *lab.Report {
	t.Helper()
	r, err := lab.Run(t.Context(), lab.Experiment{Scenarios: []*scenario.Scenario{x.scenario(t)}, Policies: policies,
		Seeds: pageSeeds, FirstSeed: lab.FirstReportedSeed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sdkPolicy(t *testing.T, generation, clients, asked int) *policy.Policy {
	t.Helper()
	more := ""
	if asked > 0 && generation == 2026 { // the SDK of 2025 ignores it
		more = fmt.Sprintf(", retryAfter: %d", asked)
	}
	p, err := policy.Parse("p.yaml", fmt.Appendf(nil, "policy: 1\nname: sdk-%d-%d\nsdk: {generation: %d, clients: %d%s}",
		generation, clients, generation, clients, more))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// row formats the figures of one policy.
func row(r *lab.Result) string {
	return fmt.Sprintf("%.2f %% | %.0f | %.2f | %d of %d | %.1f s", 100*r.Metrics["success"].Mean,
		r.Metrics["deadLettered"].Mean, r.Metrics["amplification"].Mean, r.NotRecovered, pageSeeds, r.Metrics["p99"].Mean)
}

// table writes the table of one trouble, and returns its results by policy.
func (x *trouble) table(t *testing.T, w *strings.Builder) map[string]*lab.Result {
	t.Helper()
	r := x.run(t, x.policies(t))
	fmt.Fprintf(w, "**%s**\n\n| SDK | succeeded | failed calls | attempts per call | never recovers | p99 |\n|---|---|---|---|---|---|\n",
		x.title)
	results := map[string]*lab.Result{"none": r.Result(x.name, "none")}
	fmt.Fprintf(w, "| no retry | %s |\n", row(results["none"]))
	for _, f := range fleets {
		for _, generation := range []int{2025, 2026} {
			name := fmt.Sprintf("sdk-%d-%d", generation, f.clients)
			results[name] = r.Result(x.name, name)
			fmt.Fprintf(w, "| %d, %s | %s |\n", generation, f.name, row(results[name]))
		}
	}
	w.WriteString("\n")
	return results
}

// clientsTable writes how often the brown-out tips over by the number of clients, and returns the numbers of seeds that
// do not recover, by policy.
func clientsTable(t *testing.T, w *strings.Builder) map[string]int {
	t.Helper()
	i := slices.IndexFunc(troubles, func(x trouble) bool { return x.name == "brown-out" })
	counts := []int{1, 5, 10, 20, 40, 80, 160, 2000}
	var policies []*policy.Policy
	for _, n := range counts {
		policies = append(policies, sdkPolicy(t, 2025, n, 0), sdkPolicy(t, 2026, n, 0))
	}
	r := troubles[i].run(t, policies)
	stuck := map[string]int{}
	w.WriteString("| clients | 2025: never recovers | succeeded | 2026: never recovers | succeeded |\n|---|---|---|---|---|\n")
	for _, n := range counts {
		fmt.Fprintf(w, "| %d |", n)
		for _, generation := range []int{2025, 2026} {
			name := fmt.Sprintf("sdk-%d-%d", generation, n)
			res := r.Result("brown-out", name)
			stuck[name] = res.NotRecovered
			fmt.Fprintf(w, " %d of %d | %.0f %% |", res.NotRecovered, pageSeeds, 100*res.Metrics["success"].Mean)
		}
		w.WriteString("\n")
	}
	return stuck
}

// numbersTable writes the numbers of both generations.
func numbersTable(w *strings.Builder) {
	old, recent, dynamoDB := retry.SDK2025(), retry.SDK2026(), retry.SDK2026DynamoDB()
	all := []retry.SDK{old, recent, dynamoDB}
	line := func(title string, of func(retry.SDK) string) {
		fmt.Fprintf(w, "| %s |", title)
		for _, s := range all {
			fmt.Fprintf(w, " %s |", of(s))
		}
		w.WriteString("\n")
	}
	waits := func(cause retry.Cause) func(retry.SDK) string {
		return func(s retry.SDK) string {
			var each []string
			for _, wait := range s.Waits(cause) {
				each = append(each, "0–"+wait.Max.String())
			}
			return strings.Join(each, ", ")
		}
	}
	w.WriteString("| | until 10 November 2026 | since then | since then, DynamoDB |\n|---|---|---|---|\n")
	line("attempts", func(s retry.SDK) string { return strconv.Itoa(s.MaxAttempts) })
	line("waits", waits(retry.CauseOther))
	line("waits after throttles", waits(retry.CauseThrottle))
	line("tokens of a client", func(s retry.SDK) string { return strconv.Itoa(s.Quota) })
	line("tokens of a retry; after a timeout; after a throttle", func(s retry.SDK) string {
		return fmt.Sprintf("%d; %d; %d", s.Cost(retry.CauseOther), s.Cost(retry.CauseTimeout), s.Cost(retry.CauseThrottle))
	})
	line("retries in a row until none is left; after timeouts; after throttles", func(s retry.SDK) string {
		return fmt.Sprintf("%d; %d; %d", s.Quota/s.Cost(retry.CauseOther), s.Quota/s.Cost(retry.CauseTimeout),
			s.Quota/s.Cost(retry.CauseThrottle))
	})
	line("`x-amz-retry-after` lengthens a wait by", func(s retry.SDK) string {
		if s.RetryAfter == 0 {
			return "ignored"
		}
		return "at most " + s.RetryAfter.String()
	})
}

// TestSDKPage computes docs/sdk-retries.md, and checks what its text says about the figures.
func TestSDKPage(t *testing.T) {
	t.Parallel()
	var numbers, figures, clients strings.Builder
	numbersTable(&numbers)
	results := map[string]map[string]*lab.Result{}
	for i := range troubles {
		results[troubles[i].name] = troubles[i].table(t, &figures)
	}
	stuck := clientsTable(t, &clients)
	metric := func(trouble, policy, name string) float64 { return results[trouble][policy].Metrics[name].Mean }
	for claim, holds := range map[string]bool{
		"after chance errors both save all, and the new SDK answers sooner": metric("errors", "sdk-2025-1", "success") > 0.9999 &&
			metric("errors", "sdk-2026-1", "success") > 0.9999 &&
			metric("errors", "sdk-2026-1", "p99") < metric("errors", "sdk-2025-1", "p99")-0.5,
		"the old SDK bridges an outage of 2 s, and the new one does not": metric("failover", "sdk-2025-2000", "deadLettered") < 5 &&
			metric("failover", "sdk-2026-2000", "deadLettered") > 30,
		"an outage tips the old SDK over in some seeds, the new one in none": results["outage"]["sdk-2025-2000"].NotRecovered > 0 &&
			results["outage"]["sdk-2026-2000"].NotRecovered == 0,
		"160 clients of the old SDK mostly do not recover, and those of the new one always do": stuck["sdk-2025-160"] > pageSeeds/2 &&
			stuck["sdk-2026-160"] == 0,
		"one client always recovers": results["outage"]["sdk-2025-1"].NotRecovered == 0 &&
			stuck["sdk-2025-1"] == 0 && stuck["sdk-2026-1"] == 0,
		"slowness tips both over if the clients are many": stuck["sdk-2025-2000"] == pageSeeds && stuck["sdk-2026-2000"] == pageSeeds,
		"the pause that the callee asks for saves calls": metric("throttles-asked", "sdk-2026-2000", "deadLettered") <
			0.95*metric("throttles", "sdk-2026-2000", "deadLettered"),
	} {
		if !holds {
			t.Errorf("the text of docs/sdk-retries.md is wrong: %s does not hold", claim)
		}
	}
	text, err := os.ReadFile("testdata/sdk-retries.md")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("{{numbers}}", strings.TrimSpace(numbers.String()), "{{figures}}",
		strings.TrimSpace(figures.String()), "{{clients}}", strings.TrimSpace(clients.String())).Replace(string(text))
	const page = "../../docs/sdk-retries.md"
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s is out of date (%v): run go generate ./adaptive/lab", page, err)
	}
}
