package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// rate is a schedule with equal intervals.
type rate time.Duration

var units = map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}

// parseRate parses the argument of rate(…): a number and a unit.
func parseRate(text string, anyPlural bool) (Schedule, error) {
	words := strings.Split(text, " ")
	if len(words) != 2 {
		return nil, fmt.Errorf("rate(%s) has to be a number and minutes, hours or days", text)
	}
	const most = 1 << 20
	n, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil || n == 0 || n > most {
		return nil, fmt.Errorf("rate(%s): %q is not a number from 1 to %d", text, words[0], most)
	}
	name, plural := strings.CutSuffix(words[1], "s")
	unit, ok := units[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("rate(%s): %q is none of minutes, hours and days", text, words[1])
	case !anyPlural && plural != (n > 1):
		return nil, fmt.Errorf("rate(%s): the unit is singular for 1 and plural for more", text)
	}
	return rate(time.Duration(n) * unit), nil
}

// Next implements Schedule: the first time is one period after from.
func (r rate) Next(after, from time.Time) (time.Time, bool) {
	period := time.Duration(r)
	if after.Before(from) {
		return from.Add(period), true
	}
	return from.Add((after.Sub(from)/period + 1) * period), true
}
