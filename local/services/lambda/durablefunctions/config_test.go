package durablefunctions

import (
	"reflect"
	"testing"

	"stepback/engine/history"
	"stepback/engine/journal"
)

func TestTheConfigOfARecord(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]*Config{
		"7/600": {ExecutionTimeout: 600, RetentionPeriodInDays: 7},
		"7":     {RetentionPeriodInDays: 7}, // a record of a version that did not store the timeout
		"":      nil,
		"7/":    nil,
	} {
		x := &journal.Execution{Info: history.Info{Origin: history.Origin{Revision: revision}}}
		if got := configOf(x); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", revision, got)
		}
	}
}
