package asl

import (
	"strings"
	"time"

	"stepback/jsonvalue"
)

func (d *decoder) wait(o object, s *State) {
	o.exactlyOne("SecondsPath", "Seconds", "TimestampPath", "Timestamp")
	s.Seconds = o.scalar("Seconds", waitSeconds, referencePath)
	s.Timestamp = o.scalar("Timestamp", timestamp{}, referencePath)
}

// timestamp checks a literal timestamp.
type timestamp struct{}

const timestampHint = "date and time with a capital T and a zone, such as 2016-03-14T01:59:00Z or 2016-03-14T01:59:00+01:00"

func (timestamp) check(d *decoder, v jsonvalue.Value) {
	if v.Kind() != jsonvalue.String {
		d.expect("String", v)
		return
	}
	if !isTimestamp(v.Text()) {
		d.fail("String does not match RFC3339 timestamp").hint(timestampHint)
	}
}

func isTimestamp(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil && !strings.Contains(s, ",")
}
