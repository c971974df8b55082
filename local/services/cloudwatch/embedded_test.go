package cloudwatch_test

import (
	"fmt"
	"testing"

	"stepback/local/services/cloudwatch"
)

func TestEmbedded(t *testing.T) {
	t.Parallel()
	all := cloudwatch.Embedded(`{"_aws":{"Timestamp":1795348800000,"CloudWatchMetrics":[{"Namespace":"App","Dimensions":[["F"],["F","G"],["H"]],` +
		`"Metrics":[{"Name":"Calls","Unit":"Count"},{"Name":"None"}]}]},"F":"a","G":7,"Calls":[1,2,2]}`)
	got := ""
	for _, d := range all {
		got += fmt.Sprintln(d.Namespace, d.Name, d.Dimensions, d.Data.Count, d.Data.Sum, d.Data.Unit, d.At.Format("15:04"))
	}
	if got != "App Calls [{F a}] 3 5 Count 12:00\nApp Calls [{F a} {G 7}] 3 5 Count 12:00\n" {
		t.Errorf("got %s", got)
	}
	for _, line := range []string{"", "{}", "START", `{"_aws":1}`, `{"_aws":{"CloudWatchMetrics":[{"Metrics":[{"Name":"x"}]}]},"x":"y"}`} {
		if all := cloudwatch.Embedded(line); len(all) != 0 {
			t.Errorf("%s has %v", line, all)
		}
	}
}
