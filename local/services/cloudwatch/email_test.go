package cloudwatch

import (
	"strings"
	"testing"
	"time"

	"stepback/aws"
)

// TestMailsLinkTheConsoleHere: links to the AWS Management Console, in the description too, lead to the console of the
// server.
func TestMailsLinkTheConsoleHere(t *testing.T) {
	t.Parallel()
	const ofAWS = "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#"
	a := &alarm{Name: "too many", State: "ALARM", Rule: `ALARM("x")`, Transitioned: time.Unix(0, 0),
		Description: "Rows wait. Guide: " + ofAWS + "dashboards/dashboard/Runbook. See https://example.com/guide."}
	scope := aws.Scope{Account: "111111111111", Region: "eu-west-1"}
	text := email(scope, &alarm{State: "OK"}, a, func(address string) string {
		return strings.Replace(address, ofAWS, "http://localhost:4566/_stepback/", 1)
	})
	for _, want := range []string{
		"\nView this alarm in the console:\nhttp://localhost:4566/_stepback/alarmsV2:alarm/too%20many\n",
		"Rows wait. Guide: http://localhost:4566/_stepback/dashboards/dashboard/Runbook. See https://example.com/guide.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "amazon.com") {
		t.Errorf("the mail links the AWS Management Console:\n%s", text)
	}
	if text := email(scope, &alarm{State: "OK"}, a, nil); strings.Contains(text, "View this alarm") {
		t.Errorf("the mail has a link without a console:\n%s", text)
	}
}
