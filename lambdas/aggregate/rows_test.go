package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"stepback/csvimport/aggregate"
)

func TestRowsArePublished(t *testing.T) {
	t.Parallel()
	answer := aggregate.Output{EndTime: time.Unix(125, 0), Rows: 10, Applied: 6, AlreadyApplied: 1, Rejected: 2,
		DeadLettered: 1}
	next := func(context.Context, json.RawMessage) (aggregate.Output, error) { return answer, nil }
	var out bytes.Buffer
	if _, err := published(next, "csv-import", &out)(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"RowsApplied":6`, `"RowsAlreadyApplied":1`, `"RowsRejected":2`,
		`"RowsDeadLettered":1`, `"Timestamp":120000`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
	out.Reset()
	refuse := func(context.Context, json.RawMessage) (aggregate.Output, error) { return answer, errors.New("no") }
	if _, err := published(refuse, "csv-import", &out)(t.Context(), nil); err == nil || out.Len() > 0 {
		t.Errorf("a failure is published: %v %s", err, out.String())
	}
	if _, err := published(next, "", &out)(t.Context(), nil); err != nil || out.Len() > 0 {
		t.Errorf("published without a name: %v %s", err, out.String())
	}
}
