package handlers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestAttemptOf(t *testing.T) {
	t.Parallel()
	const try = `{"state":"S","retries":2,"entered":"2026-11-28T08:00:00.000Z","brief":1}`
	entered := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	for event, known := range map[string]bool{
		`{"row":7,"attempt":` + try + `}`:                             true,
		`{"items":[{"row":7},{"row":8}],"attempt":` + try + `}`:       true,
		`{"attempt":` + try + `}`:                                     true, // by the other way, as the next four
		`{"attempt":` + try + `,"row":7}`:                             true,
		`{"row":7,"attempt":` + try + "\n}":                           true,
		`{ "row": 7, "attempt": ` + try + ` } `:                       true,
		`{"attempt":` + try + `,"a":{"b":1,"attempt":{"state":"T"}}}`: true,
		`{"a":{"b":1,"attempt":` + try + `}}`:                         false,
		`{"items":[{"b":1,"attempt":` + try + `}]}`:                   false,
		`{"text":",\"attempt\":{\"state\":\"S\"}}"}`:                  false,
		`{"row":7,"attempt":{"retries":2}}`:                           false,
		`{"row":7,"attempt":{"state":"S","retries":-1}}`:              false,
		`{"row":7,"attempt":"S"}`:                                     false,
		`{"row":7}`:                                                   false,
		`{"row":7,"attempt":` + try:                                   false,
	} {
		got, ok := attemptOf(json.RawMessage(event))
		if ok != known {
			t.Errorf("%s: %t, want %t", event, ok, known)
		}
		if known && (got.State != "S" || got.Retries != 2 || got.Brief != 1 || !got.Entered.Equal(entered)) {
			t.Errorf("%s: %+v", event, got)
		}
	}
}

// The retries of a record have its hash, and other records have others, wherever the attempt is in the event.
func TestRecordsAreRecognized(t *testing.T) {
	t.Parallel()
	for _, event := range []string{
		`{"source":"s","row":ROW,"attempt":{"state":"S","retries":N}}`, `{"attempt":{"state":"S","retries":N},"row":ROW,"source":"s"}`,
	} {
		record := func(row, retries string) uint64 {
			try, ok := attemptOf(json.RawMessage(strings.NewReplacer("ROW", row, "N", retries).Replace(event)))
			if !ok {
				t.Errorf("%s: no attempt", event)
			}
			return try.record
		}
		if first, again, other := record("7", "0"), record("7", "3"), record("8", "0"); first != again || first == other {
			t.Errorf("%s: %d, again %d, another record %d", event, first, again, other)
		}
	}
}
