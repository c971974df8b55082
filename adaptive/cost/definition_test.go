package cost_test

import (
	"math"
	"strings"
	"testing"

	"stepback/adaptive/cost"
	"stepback/adaptive/worth"
	"stepback/asl"
)

const order = `{"StartAt":"Check","States":{
	"Check":{"Type":"Choice","Choices":[{"Variable":"$.x","IsPresent":true,"Next":"Pay"}],"Default":"Done"},
	"Pay":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"pay"},
		"Retry":[{"ErrorEquals":["TimeoutError"],"MaxAttempts":2},{"ErrorEquals":["States.ALL"],"MaxAttempts":5}],"Next":"Each"},
	"Each":{"Type":"Map","ItemsPath":"$.lines","Next":"Done","ItemProcessor":{"StartAt":"Ship","States":{
		"Ship":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:123456789012:function:ship","Next":"Noted"},
		"Noted":{"Type":"Pass","End":true}}}},
	"Done":{"Type":"Succeed"}}}`

func machine(t *testing.T, text string) *asl.Machine {
	t.Helper()
	m, found := asl.Parse(text)
	if m == nil || asl.HasErrors(found) {
		t.Fatalf("%v", found)
	}
	return m
}

// The usage of an execution equals a count by hand.
func TestOfDefinition(t *testing.T) {
	t.Parallel()
	a, _ := cost.OfDefinition(machine(t, order), cost.Question{Items: 10,
		Faults: map[string]map[string]float64{"Pay": {"TimeoutError": 0.1, "Other": 0.5}}})
	// start, Check, Done
	if a.Least.Transitions != 3 || a.Least.Invocations != 0 || a.Least.Retries != 0 || a.Loops {
		t.Errorf("at least: %+v", a.Least)
	}
	// start, Check, Pay, Each, 10 × (Ship, Noted), Done
	if a.Most.Transitions != 25 || a.Most.Invocations != 11 || a.Most.WorstRetries != 5 {
		t.Errorf("at most: %+v", a.Most)
	}
	// 0.1 + 0.01, and 0.5 + 0.25 + 0.125 + 0.0625 + 0.03125
	if want := 0.11 + 0.96875; math.Abs(a.Most.Retries-want) > 1e-12 {
		t.Errorf("%v retries are expected, want %v", a.Most.Retries, want)
	}
	items := a.Most.Items(1000, 0.1, 1024, cost.DefaultPrices(worth.Arm))
	if got := item(t, items, "Step Functions, transitions").USD; got != 0.625 {
		t.Errorf("25,000 transitions cost %v", got)
	}
	if got := a.Most.Worst(1000, cost.DefaultPrices(worth.Arm)); got != 0.125 {
		t.Errorf("5,000 retries cost %v", got)
	}
}

// TestRefusedTasksAreNoInvocations: Lambda refuses half of the attempts of Pay, which is retried twice; one in eight
// fails for good.
func TestRefusedTasksAreNoInvocations(t *testing.T) {
	t.Parallel()
	text := strings.Replace(order, `"TimeoutError"`, `"Lambda.TooManyRequestsException"`, 1)
	a, _ := cost.OfDefinition(machine(t, text), cost.Question{Items: 10,
		Faults: map[string]map[string]float64{"Pay": {"Lambda.TooManyRequestsException": 0.5}}})
	if a.Most.Retries != 0.75 || a.Most.Invocations != 10.875 || a.Most.RetryInvoke != 0 {
		t.Errorf("%+v", a.Most)
	}
}

func TestOfDefinitionDistributed(t *testing.T) {
	t.Parallel()
	const processor = `"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"TYPE"},"StartAt":"T","States":{
		"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},"End":true}}}`
	text := func(kind string) string {
		return `{"StartAt":"M","States":{"M":{"Type":"Map","ItemBatcher":{"MaxItemsPerBatch":40},"End":true,` +
			strings.Replace(processor, "TYPE", kind, 1) + `}}}`
	}
	standard := most(t, text("STANDARD"), cost.Question{Items: 100})
	// start, M, 3 × (start, T)
	if standard.Transitions != 8 || standard.Invocations != 3 || standard.Express != 0 {
		t.Errorf("STANDARD children: %+v", standard)
	}
	express := most(t, text("EXPRESS"), cost.Question{Items: 100})
	if express.Transitions != 2 || express.Invocations != 3 || express.Express != 3 {
		t.Errorf("EXPRESS children: %+v", express)
	}
	whole := most(t, order, cost.Question{Express: true})
	if whole.Transitions != 0 || whole.Express != 1 {
		t.Errorf("an EXPRESS machine: %+v", whole)
	}
}

// TestADistributedMapIsNotPartOfAnExpressExecution: AWS refuses it. Its children are not priced as iterations of an
// inline Map.
func TestADistributedMapIsNotPartOfAnExpressExecution(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"STANDARD", "EXPRESS"} {
		m := machine(t, `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED",
			"ExecutionType":"`+kind+`"},"StartAt":"T","States":{"T":{"Type":"Pass","End":true}}}}}}`)
		a, err := cost.OfDefinition(m, cost.Question{Express: true, Items: 100})
		if err == nil || err.Error() != `state "M" is a distributed Map, which a state machine of type EXPRESS cannot have` ||
			a.Most != (cost.Execution{}) {
			t.Errorf("%s children: %+v, %v", kind, a.Most, err)
		}
	}
}

// most returns the most that an execution can use.
func most(t *testing.T, text string, q cost.Question) cost.Execution {
	t.Helper()
	a, err := cost.OfDefinition(machine(t, text), q)
	if err != nil {
		t.Fatal(err)
	}
	return a.Most
}

func TestOfDefinitionWithALoop(t *testing.T) {
	t.Parallel()
	a, _ := cost.OfDefinition(machine(t, `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$.x","IsPresent":true,"Next":"S"}],"Default":"W"},
		"S":{"Type":"Succeed"}}}`), cost.Question{})
	if !a.Loops || a.Most.Transitions != 4 || a.Least.Transitions != 4 {
		t.Errorf("%+v", a)
	}
}

// TestExpressExecutionsAreBilledByTenthsOfASecond: an invocation of 100 ms and 50 ms around it are billed as 200 ms of
// 64 MB.
func TestExpressExecutionsAreBilledByTenthsOfASecond(t *testing.T) {
	t.Parallel()
	one := cost.Execution{Express: 1, Invocations: 1}
	for takes, want := range map[float64]float64{0.05: 6250, 0.051: 12_500, 0.1: 12_500, 0.15: 12_500, 1: 68_750} {
		for _, item := range one.Items(1e6, takes, 512, cost.DefaultPrices(worth.Arm)) {
			if item.Name == "Step Functions, EXPRESS duration" && math.Abs(item.Quantity-want) > 1e-6 {
				t.Errorf("invocations of %v s: %v GB-seconds, want %v", takes, item.Quantity, want)
			}
		}
	}
}
