package tablefile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"stepback/retrypatterns/tablefile"
)

const good = `
patterns:
  gentle: {interval: 2s, rate: 1.5, maxDelay: 60s, retries: 5, jitter: FULL}
states:
  Charge:
    timeout: 30s
    retry:
      - {errors: [CardDeclined], retries: 0}
      - {errors: [CardServiceBusy, Lambda.ServiceException], pattern: gentle, comment: the bank is slow}
      - {errors: [States.Timeout], interval: 5s, retries: 1}
`

func TestRead(t *testing.T) {
	t.Parallel()
	table, err := tablefile.Read("t.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	c, err := table.Compile("Charge")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(c.Retry)
	want := `[{"ErrorEquals":["CardDeclined"],"MaxAttempts":0},` +
		`{"ErrorEquals":["CardServiceBusy","Lambda.ServiceException"],"IntervalSeconds":2,"MaxAttempts":5,"BackoffRate":1.5,"MaxDelaySeconds":60,"JitterStrategy":"FULL","Comment":"the bank is slow"},` +
		`{"ErrorEquals":["States.Timeout"],"IntervalSeconds":5,"MaxAttempts":1,"BackoffRate":2,"JitterStrategy":"NONE"}]`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	const head = "states:\n  A:\n    timeout: 30s\n    retry:\n"
	for text, want := range map[string]string{
		"states: {A: {timeout: 30s, retri: []}}":                                `t.yaml:1:28: states.A: there is no member "retri" here (did you mean retry?)`,
		head + "      - {errors: [E], pattern: gentel}\npatterns: {gentle: {}}": "there is no pattern gentel; did you mean gentle?",
		head + "      - {errors: [E], pattern: minimal, retries: 2}":            "the pattern says this already",
		head + "      - {errors: [E], jitter: full}":                            "t.yaml:5:31",
		head + "      - {retries: 1}":                                           "the member errors is missing",
		"states: {A: {retry: [{errors: [E]}]}}":                                 "the member timeout is missing",
		head + "      - {errors: [States.ALL]}\n      - {errors: [E]}": "t.yaml:5:18: states.A.retry[0].errors: " +
			"errors is States.ALL; write States.ALL alone and in the last row only",
		head + "      - {errors: [E], interval: 20s, maxDelay: 10s}": "t.yaml:5:48: states.A.retry[0].maxDelay: " +
			"maxDelay is 10s; write more than interval, or 0 for no cap",
		"patterns: {slow: {interval: 20s, maxDelay: 10s}}\n" + head + "      - {errors: [E], pattern: slow}": "t.yaml:6:9: " +
			"states.A.retry[0]: maxDelay is 10s",
		"states: {A: {timeout: 30s, heartbeat: 40s, retry: [{errors: [E]}]}}": "t.yaml:1:39: states.A.heartbeat: heartbeat is 40s",
	} {
		if _, err := tablefile.Read("t.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		}
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		good:                           true,
		`{"states": {"A": {}}}`:        true,
		"patterns: {gentle: {}}":       true,
		"Charge: [{ErrorEquals: [E]}]": false,
		"states: [{ErrorEquals: [E]}]": false,
		"StartAt: A\nStates: {}\n":     false,
		"- 1":                          false,
		"":                             false,
	} {
		if got := tablefile.Looks([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = tablefile.Read("t.yaml", []byte(text)) })
}
