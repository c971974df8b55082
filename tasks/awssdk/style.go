package awssdk

import (
	"strconv"
	"time"

	"stepback/asl/jsonvalue"
)

// style is how results look: those of AWS SDK integrations, or those of optimized integrations.
type style struct {
	name func(model string) string
	time func(time.Time) jsonvalue.Value
}

var (
	sdkStyle       = style{MemberName, instant}
	optimizedStyle = style{func(model string) string { return model }, epochMillis}
)

// instant writes a time as Java's Instant does: with three decimals, or none when it is a whole second.
func instant(t time.Time) jsonvalue.Value {
	layout := "2006-01-02T15:04:05.000Z"
	if t.Nanosecond() < int(time.Millisecond) {
		layout = "2006-01-02T15:04:05Z"
	}
	return jsonvalue.OfString(t.UTC().Format(layout))
}

func epochMillis(t time.Time) jsonvalue.Value {
	return jsonvalue.OfNumberText(strconv.FormatInt(t.UnixMilli(), 10))
}
