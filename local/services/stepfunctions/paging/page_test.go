package paging

import (
	"testing"
	"time"
)

func TestPlacesSortByTime(t *testing.T) {
	t.Parallel()
	early, late := time.UnixMilli(1), time.UnixMilli(1_700_000_000_000)
	if OldestFirst(early, "z") >= OldestFirst(late, "a") || NewestFirst(late, "z") >= NewestFirst(early, "a") {
		t.Error("places do not sort as the lists do")
	}
}
