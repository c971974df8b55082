package server

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimeHasThreeDecimals(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		0: "0.000", 5: "0.005", 999: "0.999", 1_700_000_000_005: "1700000000.005", 1_799_999_999_999: "1799999999.999",
		253_402_300_799_999: "253402300799.999", -1: "-0.001", -1_500: "-1.500",
	} {
		text, err := json.Marshal(Time(time.UnixMilli(ms)))
		if err != nil || string(text) != want {
			t.Errorf("%d ms: %s, %v; want %s", ms, text, err, want)
		}
		var back Time
		if err := json.Unmarshal(text, &back); err != nil || time.Time(back).UnixMilli() != ms {
			t.Errorf("%s: %v, %v; want %d ms", text, time.Time(back), err, ms)
		}
	}
}
