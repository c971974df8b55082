package statemachine_test

import (
	"slices"
	"testing"
	"time"

	"stepback/retry"
	rp "stepback/retrypatterns"
	"stepback/statemachine"
)

func TestExplainProcessSingleUserRecord(t *testing.T) {
	t.Parallel()
	e, err := statemachine.DefaultTable().Explain(statemachine.ProcessSingleUserRecord)
	if err != nil {
		t.Fatal(err)
	}
	ms := time.Millisecond
	want := []struct {
		first   string
		waits   []time.Duration // longest wait before each retry
		total   retry.Wait
		fits    bool
		longest time.Duration
	}{
		{"CSVFileNotFound", nil, retry.Wait{}, true, 30 * time.Second},
		{"DatabaseConnectionError", []time.Duration{2000 * ms, 3600 * ms, 6480 * ms, 11664 * ms},
			retry.Wait{Mean: 11872 * ms, Max: 23744 * ms}, true, 173744 * ms},
		{"ConcurrentModificationException", []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 15000 * ms},
			retry.Wait{Mean: 15000 * ms, Max: 30000 * ms}, true, 210000 * ms},
		{"Lambda.ThrottledException", []time.Duration{3000 * ms, 7500 * ms, 18750 * ms, 46875 * ms},
			retry.Wait{Mean: 38062500 * time.Microsecond, Max: 76125 * ms}, false, 226125 * ms},
		{"TimeoutError", []time.Duration{5000 * ms, 12500 * ms, 31250 * ms}, retry.Wait{Mean: 24375 * ms, Max: 48750 * ms},
			false, 168750 * ms},
		{"Lambda.ServiceException", []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms},
			retry.Wait{Mean: 15500 * ms, Max: 31000 * ms}, false, 211000 * ms},
		{"TooManyRequestsError", []time.Duration{5000 * ms, 12500 * ms, 31250 * ms}, retry.Wait{Mean: 24375 * ms,
			Max: 48750 * ms}, false, 168750 * ms},
		{"ServiceUnavailableError", []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms},
			retry.Wait{Mean: 15500 * ms, Max: 31000 * ms}, false, 211000 * ms},
		{"States.Timeout", []time.Duration{2000 * ms, 3000 * ms}, retry.Wait{Min: 5000 * ms, Mean: 5000 * ms,
			Max: 5000 * ms}, true, 95000 * ms},
		{"Runtime.ExitError", []time.Duration{2000 * ms, 3000 * ms}, retry.Wait{Min: 5000 * ms, Mean: 5000 * ms,
			Max: 5000 * ms}, true, 95000 * ms},
		{"LimitReached", []time.Duration{3000 * ms, 6000 * ms}, retry.Wait{Mean: 4500 * ms, Max: 9000 * ms}, true,
			99000 * ms},
		{"CircuitOpen", append([]time.Duration{30000 * ms, 45000 * ms, 67500 * ms, 101250 * ms, 151875 * ms,
			227812500 * time.Microsecond}, slices.Repeat([]time.Duration{300000 * ms}, 14)...),
			retry.Wait{Mean: 2411718750 * time.Microsecond, Max: 4823437500 * time.Microsecond}, false,
			5453437500 * time.Microsecond},
	}
	if len(e.Retriers) != len(want) || e.Timeout != 30*time.Second || e.Heartbeat != 10*time.Second {
		t.Fatalf("%d retriers, timeout %s, heartbeat %s", len(e.Retriers), e.Timeout, e.Heartbeat)
	}
	for i, w := range want {
		got := e.Retriers[i]
		var waits []time.Duration
		for _, wait := range got.Schedule.Waits {
			waits = append(waits, wait.Max)
		}
		if got.Retrier.ErrorEquals[0] != w.first || !slices.Equal(waits, w.waits) || got.Schedule.Total != w.total ||
			got.WaitFitsTimeout != w.fits || got.Longest != w.longest {
			t.Errorf("retrier %d: %+v\nwant %+v", i, got, w)
		}
	}
	// 4+5+4+3+5+3+5+2+2+2+20 retries; 56 attempts of 30 s, plus the waits.
	waits := 308369*ms + 4823437500*time.Microsecond
	if e.Retries != 55 || e.Wait.Max != waits || e.Longest != 56*30*time.Second+waits {
		t.Errorf("whole state: %d retries, waits %s, lasts %s", e.Retries, e.Wait.Max, e.Longest)
	}
	if len(e.Notes) != 3 || e.Retriers[1].Provenance != rp.FromDesign || e.Retriers[7].Provenance != rp.Addition {
		t.Errorf("notes %v, provenance %s, %s", e.Notes, e.Retriers[1].Provenance, e.Retriers[7].Provenance)
	}
}

func TestExplainUnknownState(t *testing.T) {
	t.Parallel()
	if _, err := statemachine.DefaultTable().Explain("Nowhere"); err == nil {
		t.Error("no error for a state that the table lacks")
	}
}
