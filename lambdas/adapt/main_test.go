package main

import (
	"strings"
	"testing"
)

func TestConfigured(t *testing.T) {
	t.Parallel()
	good := map[string]string{"STATE_MACHINE_ARN": "arn", "CONFIGURATION_TABLE": "t", "CAPACITY": "25",
		"RULES": "source", "DRY_RUN": "true"}
	c, err := configured(func(name string) string { return good[name] })
	if err != nil || c.Capacity != 25 || !c.DryRun || c.Parameters.Rules != "source" || c.Owner != "adapt" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, bad := range map[string]string{"STATE_MACHINE_ARN": "", "CAPACITY": "-1", "RULES": "mine",
		"DRY_RUN": "perhaps"} {
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
