package cost_test

import (
	"math"
	"testing"
	"time"

	"stepback/statemachine"
)

// The scale of a billion rows of 17 bytes equals a calculation by hand.
func TestABillionRows(t *testing.T) {
	t.Parallel()
	run := million(statemachine.Bulk, 250)
	run.Rows, run.RowBytes = 1_000_000_000, 17
	s := run.Scale(24*time.Hour, 100)
	// 17e9 / 134,217,728 = 126.66; 2 rounds of 10 s; 1e9 / 10,000 per second; 127 × 10 s
	if s.Parts != 127 || s.Validating != 20*time.Second || s.Applying != 100_000*time.Second ||
		s.Between != 1270*time.Second {
		t.Errorf("%+v", s)
	}
	// 4,000,000 × (start + ApplyBatch + Map) + 10 + 127 × 6
	if got, want := run.Usage().Transitions, 12_000_772.0; got != want {
		t.Errorf("%v transitions, want %v", got, want)
	}
	if first := s.First(); first.Name != "duration of an execution" || math.Abs(first.Share()-101_290.0/86_400) > 1e-9 {
		t.Errorf("the first limit is %+v", first)
	}
	if events := s.Limits[1]; events.Needs != 40+127*13 || events.Most != 25_000 {
		t.Errorf("%+v", events)
	}
	if first := run.Scale(48*time.Hour, 100).First(); first.Share() >= 1 {
		t.Errorf("within 48 hours, %+v stops the import", first)
	}
	run.Rows = 6_000_000_000 // 102 GB
	if s := run.Scale(240*time.Hour, 100); s.First().Share() >= 1 || s.Parts != 760 {
		t.Errorf("%v parts; %+v", s.Parts, s.First())
	}
}

// TestScaleOfManyFiles: files share the database, and four at a time are validated and aggregated.
func TestScaleOfManyFiles(t *testing.T) {
	t.Parallel()
	i := million(statemachine.Bulk, 250)
	i.RowBytes, i.Files, i.AsOne = 17, 100_000, true
	s := i.Scale(24*time.Hour, 100)
	// 10 rows a file: 5 s and a few µs for each, 100,000 ÷ 4 times
	if s.Files != 100_000 || s.Bytes != 170 || s.Parts != 1 || s.Applying != 100*time.Second ||
		s.Between.Round(time.Second) != 125_001*time.Second {
		t.Errorf("%+v", s)
	}
	if first := s.First(); first.Name != "files of an import" || first.Needs != 100_000 || first.Most != 100_000 {
		t.Errorf("first limit %+v", first)
	}
	if last := s.Limits[len(s.Limits)-1]; last.Most != 336 || math.Abs(last.Needs-34.75) > 0.1 {
		t.Errorf("duration %+v", last)
	}
}
