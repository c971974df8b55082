package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/controller"
	"stepback/adaptive/controller/decide"
)

func TestConfigured(t *testing.T) {
	t.Parallel()
	good := map[string]string{"STATE_MACHINE_ARN": "arn", "CONFIGURATION_TABLE": "t", "CAPACITY": "25",
		"RULES": "source", "DRY_RUN": "true",
		"LOAD_HOURS": "Asia/Tokyo"}
	c, err := configured(func(name string) string { return good[name] })
	if err != nil || c.Capacity != 25 || !c.DryRun || !c.Proposes || c.Parameters.Rules != "source" || c.Owner != "adapt" || c.Parameters.Hours.Location.String() != "Asia/Tokyo" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, bad := range map[string]string{"STATE_MACHINE_ARN": "", "CAPACITY": "-1", "RULES": "mine",
		"DRY_RUN": "perhaps", "LOAD_HOURS": "noon"} {
		_, err := configured(func(n string) string {
			if n == name {
				return bad
			}
			return good[n]
		})
		if err == nil || name != "RULES" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%q: %v", name, bad, err)
		}
	}
}

func TestChangesAndProposalsAreCounted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	h := handler{controller: &controller.Controller{Machine: "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import"},
		out: &out}
	res := controller.Result{At: time.Unix(125, 0).UTC(), Proposed: []decide.Decision{{State: "ApplyBatch"}}}
	if err := h.publish(res); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ControllerProposals":1`, `"State":"ApplyBatch"`, `"StateMachine":"csv-import"`,
		`"Timestamp":120000`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
	out.Reset()
	if err := h.publish(controller.Result{At: res.At}); err != nil || out.Len() > 0 {
		t.Errorf("nothing happened, and %q is published (%v)", out.String(), err)
	}
}

func TestTimeOfAnEvent(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 8, 0, 30, 0, time.UTC)
	for event, want := range map[string]string{
		`{"detail-type":"Scheduled Event","time":"2026-11-22T08:00:00Z"}`: "08:00:00",
		`{"detail-type":"Scheduled Event","time":"2026-11-22T09:00:00Z"}`: "09:00:00", // a clock ahead of ours
		`{"detail-type":"Scheduled Event","time":"1970-01-01T00:00:00Z"}`: "08:00:30",
		`{"time":"soon"}`: "08:00:30", `{}`: "08:00:30", `[]`: "08:00:30", `null`: "08:00:30",
	} {
		if got := at(json.RawMessage(event), now).Format(time.TimeOnly); got != want {
			t.Errorf("%s: %s, want %s", event, got, want)
		}
	}
}
