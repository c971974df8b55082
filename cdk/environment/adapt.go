package environment

import "strconv"

// AdaptMode is the mode of the retry controller.
type AdaptMode string

// The modes of the controller.
const (
	AdaptOff    AdaptMode = ""        // there is no controller
	AdaptDryRun AdaptMode = "dry-run" // it proposes changes, but makes none
	AdaptOn     AdaptMode = "on"
)

// Control holds settings of the retry controller. The zero value uses the standard rules and measures what they need.
type Control struct {
	// SourceRules uses the rules of the source design's sections 4.1 and 5.1 instead of the standard ones.
	SourceRules bool
	// Capacity is the number of calls per second that the database serves; 0 measures it.
	Capacity float64
	// ConcurrencyLimit is the number of concurrent calls of a function that the source's rules count as full load; 0
	// leaves the load unknown, unless LoadHours is set.
	ConcurrencyLimit float64
	// LoadHours is the time zone, such as Asia/Tokyo, in which the source's rules take the load from the source's hour
	// table if it is not measured; empty means never.
	LoadHours string
	// DelayPerHour is the cost of an hour of delay of a row, in USD. It requires RecordValue.
	DelayPerHour float64
}

// Variables returns the settings as environment variables of the function adapt. It leaves out those that are not set.
func (c Control) Variables() map[string]string {
	all := map[string]string{}
	if c.SourceRules {
		all["RULES"] = sourceChoice
	}
	if c.LoadHours != "" {
		all["LOAD_HOURS"] = c.LoadHours
	}
	for name, value := range map[string]float64{
		"CAPACITY": c.Capacity, "CONCURRENCY_LIMIT": c.ConcurrencyLimit, "DELAY_PER_HOUR": c.DelayPerHour,
	} {
		if value > 0 {
			all[name] = strconv.FormatFloat(value, 'g', -1, 64)
		}
	}
	return all
}
