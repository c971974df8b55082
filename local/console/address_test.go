package console_test

import (
	"testing"

	"stepback/local/console"
)

func TestAddressesOfTheAWSConsole(t *testing.T) {
	t.Parallel()
	const aws = "https://us-east-1.console.aws.amazon.com/"
	for address, want := range map[string]string{
		aws + "cloudwatch/home?region=us-east-1#dashboards/dashboard/CSV-Runbook": "http://localhost:4566/_stepback/dashboards/CSV-Runbook",
		aws + "cloudwatch/home?region=us-east-1#alarmsV2:alarm/too%20many":        "http://localhost:4566/_stepback/alarms/too%20many",
		aws + "billing/home":        aws + "billing/home",
		"https://example.com/guide": "https://example.com/guide",
	} {
		if got := console.Address("http://localhost:4566", address); got != want {
			t.Errorf("%s leads to %s, want %s", address, got, want)
		}
	}
}
