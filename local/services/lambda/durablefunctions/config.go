package durablefunctions

import (
	"strconv"
	"strings"

	"stepback/engine/journal"
)

// Config is the DurableConfig that an execution started with. Later changes of the function do not apply to it.
type Config struct {
	ExecutionTimeout      int64 `json:",omitempty"` // in seconds; 0 means unknown
	RetentionPeriodInDays int64
}

// text returns the form that the journal stores in an execution's Revision: "RETENTION/TIMEOUT".
func (c Config) text() string {
	return strconv.FormatInt(c.RetentionPeriodInDays, 10) + "/" + strconv.FormatInt(c.ExecutionTimeout, 10)
}

// configOf returns the configuration of an execution, or nil if its record has none. Records of older versions of
// stepback contain only the retention.
func configOf(x *journal.Execution) *Config {
	retention, timeout, both := strings.Cut(x.Revision, "/")
	c := new(Config)
	var err error
	if c.RetentionPeriodInDays, err = strconv.ParseInt(retention, 10, 64); err != nil {
		return nil
	}
	if both {
		if c.ExecutionTimeout, err = strconv.ParseInt(timeout, 10, 64); err != nil {
			return nil
		}
	}
	return c
}
