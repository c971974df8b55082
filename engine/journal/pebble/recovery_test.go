package pebble_test

import (
	"fmt"
	"slices"
	"testing"

	"stepback/engine/history"
	"stepback/engine/journal/journaltest"
)

// Unfinished finds each description wherever it is: right after that of the last unfinished execution, or behind those
// of executions that have ended.
func TestUnfinishedBetweenEnded(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	defer j.Close()
	var want []string
	for i := range 20 {
		x := journaltest.Begun(fmt.Sprintf("m:%02d", i))
		journaltest.Commit(t, j, journaltest.First(x))
		if slices.Contains([]int{1, 2, 3, 5, 8, 13, 19}, i) {
			want = append(want, x.ARN)
			continue
		}
		journaltest.Commit(t, j, journaltest.Second(x))
		journaltest.Commit(t, j, journaltest.Last(x, history.Succeeded))
	}
	var found []string
	for u, err := range j.Unfinished(t.Context(), "m:") {
		if err != nil {
			t.Fatal(err)
		}
		if u.Status != history.Running || u.Name != journaltest.Begun(u.ARN).Name || len(u.Steps) != 1 {
			t.Errorf("%+v", u)
		}
		found = append(found, u.ARN)
	}
	if !slices.Equal(found, want) {
		t.Errorf("%v, want %v", found, want)
	}
}
