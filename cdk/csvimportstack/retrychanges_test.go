package csvimportstack_test

import (
	"strings"
	"testing"

	"stepback/cdk/environment"
)

// TestTheControllersEventsAreHeard: changes and proposals of the controller become notices and records of a log.
func TestTheControllersEventsAreHeard(t *testing.T) {
	x := synth(t, environment.Prod())
	rule := x.only(t, "AWS::Events::Rule", "RetryChanges").Properties
	if got := compact(t, rule["EventPattern"]); !strings.Contains(got,
		`"detail-type":["Retry Configuration Update","Retry Configuration Proposal"]`) ||
		!strings.Contains(got, `"source":["csv.processing.retry.manager"]`) {
		t.Errorf("the rule matches %s", got)
	}
	targets := compact(t, rule["Targets"])
	for _, want := range []string{`"Arn":{"Ref":"Notices`,
		`"InputTemplate":"\"\u003ckind\u003e of csv-import-prod at \u003ctime\u003e: \u003ctext\u003e\""`,
		`:log-group:",{"Ref":"RetryChangesLog`} {
		if !strings.Contains(targets, want) {
			t.Errorf("the targets %s lack %s", targets, want)
		}
	}
	if got := x.only(t, "AWS::Logs::LogGroup", "RetryChangesLog").Properties["LogGroupName"]; got != "/aws/events/csv-import-prod-retry-changes" {
		t.Errorf("the audit log is %v", got)
	}
	if got := compact(t, x.only(t, "AWS::SNS::TopicPolicy", "Notices").Properties); !strings.Contains(got,
		`:rule/csv-import-prod-retry-changes"]]}}},"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"}`) {
		t.Errorf("the rule may not publish: %s", got)
	}
}
