package groupcommit_test

import (
	"slices"
	"testing"

	"stepback/internal/groupcommit"
)

func three(group []int) bool { return len(group) >= 3 }

// TestGather takes the work that is waiting, no more than the group holds, and what arrives meanwhile.
func TestGather(t *testing.T) {
	t.Parallel()
	queue := make(chan int, 8)
	if got := groupcommit.Gather([]int{1}, queue, three); !slices.Equal(got, []int{1}) {
		t.Errorf("without work: %v", got)
	}
	for n := 2; n < 7; n++ {
		queue <- n
	}
	if got := groupcommit.Gather([]int{1}, queue, three); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("more work than fits: %v", got)
	}
	if got := groupcommit.Collect([]int(nil), queue, three); !slices.Equal(got, []int{4, 5, 6}) {
		t.Errorf("the rest: %v", got)
	}
}

// TestAwait ends after two yields in a row that brought no work.
func TestAwait(t *testing.T) {
	t.Parallel()
	arrivals := []bool{true, false, true, false, false, true}
	asked := 0
	groupcommit.Await(func() bool { asked++; return arrivals[asked-1] })
	if asked != 5 {
		t.Errorf("asked %d times, want 5", asked)
	}
}
