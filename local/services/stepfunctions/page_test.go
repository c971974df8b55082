package stepfunctions

import (
	"testing"
	"time"
)

func TestPlacesSortByTime(t *testing.T) {
	t.Parallel()
	early, late := time.UnixMilli(1), time.UnixMilli(1_700_000_000_000)
	if oldestFirst(early, "z") >= oldestFirst(late, "a") || newestFirst(late, "z") >= newestFirst(early, "a") {
		t.Error("places do not sort as the lists do")
	}
}
