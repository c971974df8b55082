package environment_test

import (
	"testing"

	"stepback/cdk/environment"
)

func TestEveryEnvironmentFitsASmallAccount(t *testing.T) {
	t.Parallel()
	for _, e := range environment.All() {
		for _, limit := range []int{2, 10, 50, 100, 1000} {
			small := e.Within(limit)
			if err := small.Validate(); err != nil {
				t.Errorf("%d invocations: %v", limit, err)
			}
			if small.Concurrency > e.Concurrency || small.MayReserve() != (limit > 100) {
				t.Errorf("%s with %d invocations: concurrency %d, may reserve %t", e.Name, limit, small.Concurrency,
					small.MayReserve())
			}
		}
	}
	if got := environment.Prod().Within(10).Concurrency; got != 9 {
		t.Errorf("prod with 10 invocations has a concurrency of %d, want 9: one is left to others", got)
	}
	if got := environment.Prod().Within(3000).Concurrency; got != 200 {
		t.Errorf("a large account raises prod's concurrency to %d", got)
	}
}

func TestDisksHaveRoom(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64][2]int{
		1:          {512, 512},
		100 << 20:  {512, 3000},
		128 << 20:  {512, 3840},
		100 << 30:  {512, 3840}, // parts of 128 MiB
		1000 << 30: {3072, 10240},
	} {
		e := environment.Dev()
		e.MaxFileBytes = bytes
		if got := [2]int{e.ValidateDisk(), e.AggregateDisk()}; got != want {
			t.Errorf("files of %d bytes: %d MiB to validate and aggregate, want %d", bytes, got, want)
		}
	}
}
