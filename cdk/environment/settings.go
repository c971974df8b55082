package environment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Settings holds the part of an environment that its owner decides, as opposed to its design: where it is deployed
// and who is notified. Settings are kept in a file next to the code, cdk/environments/NAME.json, so that two
// deployments of the same commit are the same.
type Settings struct {
	// Account and Region are the only place where the environment may be deployed. Empty means the credentials'
	// account and region, which environments that keep their data reject at deployment.
	Account string `json:"account"`
	Region  string `json:"region"`
	// AccountConcurrency is the number of concurrent invocations that the account allows in the region; see Within. 0
	// means 1,000.
	AccountConcurrency int `json:"accountConcurrency"`

	Pages   Subscribers `json:"pages"`
	Notices Subscribers `json:"notices"`
	Imports Subscribers `json:"imports"`
	Guide   string      `json:"guide"`

	// Database is an existing database to use instead of the environment's own; an empty SecretARN means none.
	Database struct {
		SecretARN        string   `json:"secretArn"`
		SubnetIDs        []string `json:"subnetIds"`
		SecurityGroupIDs []string `json:"securityGroupIds"`
	} `json:"database"`

	InputBucket     string  `json:"inputBucket"`
	ResultBucket    string  `json:"resultBucket"`
	AccessLogBucket string  `json:"accessLogBucket"`
	Owner           string  `json:"owner"`
	CostCenter      string  `json:"costCenter"`
	MonthlyBudget   float64 `json:"monthlyBudgetUSD"`
	// MaxFileBytes is the size limit of a file, in bytes; 0 means 100 GiB. A smaller limit bounds what a file costs that
	// was uploaded by mistake: 1 GiB with 17 bytes a row costs about 25 USD.
	MaxFileBytes int64 `json:"maxFileBytes"`
	// TimeoutHours is the time limit of an import; 0 means 24. A database that takes 10,000 rows a second applies 864
	// million of them in that time, so larger files need more. It is at most 8,760, a year.
	TimeoutHours int `json:"timeoutHours"`
	// ImportsPerDay is the number of files that arrive on a quiet day; 0 means unknown. A canary then lasts until it has
	// probably seen CanaryImports of them; see Canary.Seeing.
	ImportsPerDay float64 `json:"importsPerDay"`
	// RecordValue is the value of Environment.RecordValue, in USD.
	RecordValue float64 `json:"recordValueUSD"`

	// Adapt configures the retry controller.
	Adapt struct {
		// Mode is off, dry-run or on; empty means the environment's own mode.
		Mode string `json:"mode"`
		// Rules are standard or source; empty means standard.
		Rules            string  `json:"rules"`
		Capacity         float64 `json:"capacity"`
		ConcurrencyLimit float64 `json:"concurrencyLimit"`
		LoadHours        string  `json:"loadHours"`
		DelayPerHour     float64 `json:"delayPerHourUSD"`
	} `json:"adapt"`
	// Breaker selects the circuit breaker's thresholds, standard or source; empty means standard.
	Breaker string `json:"breaker"`
}

// Subscribers receive the messages of one topic: e-mail addresses and HTTPS URLs. Each has to confirm its
// subscription once.
type Subscribers struct {
	Emails    []string `json:"emails"`
	Endpoints []string `json:"endpoints"`
}

// ReadSettings parses a file of settings; file is its name, for errors. An unknown member is an error, because it is
// probably mistyped.
func ReadSettings(file string, text []byte) (Settings, error) {
	var s Settings
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("unexpected text after the object")
		}
	}
	if err != nil {
		line := 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte{'\n'})
		return s, fmt.Errorf("%s, line %d: %w", file, line, err)
	}
	if err := s.check(); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Set returns the environment with the settings applied.
func (e Environment) Set(s Settings) Environment {
	e.Account, e.Region = s.Account, s.Region
	if s.AccountConcurrency != 0 {
		e = e.Within(s.AccountConcurrency)
	}
	e.Pages, e.Notices, e.Imports, e.Guide = s.Pages, s.Notices, s.Imports, s.Guide
	if d := s.Database; d.SecretARN != "" {
		e.Database = Database{SecretARN: d.SecretARN, SubnetIDs: d.SubnetIDs, SecurityGroupIDs: d.SecurityGroupIDs}
	}
	e.InputBucket, e.ResultBucket, e.AccessLogBucket = s.InputBucket, s.ResultBucket, s.AccessLogBucket
	e.Owner, e.CostCenter, e.MonthlyBudget = s.Owner, s.CostCenter, s.MonthlyBudget
	e.RecordValue = s.RecordValue
	e.Canary = e.Canary.Seeing(s.ImportsPerDay)
	if s.MaxFileBytes != 0 {
		e.MaxFileBytes = s.MaxFileBytes
	}
	if s.TimeoutHours != 0 {
		e.Timeout = time.Duration(s.TimeoutHours) * time.Hour
	}
	switch s.Adapt.Mode {
	case "":
	case "off":
		e.Adapt = AdaptOff
	default:
		e.Adapt = AdaptMode(s.Adapt.Mode)
	}
	e.Control = Control{
		SourceRules: s.Adapt.Rules == sourceChoice, Capacity: s.Adapt.Capacity,
		ConcurrencyLimit: s.Adapt.ConcurrencyLimit, LoadHours: s.Adapt.LoadHours, DelayPerHour: s.Adapt.DelayPerHour,
	}
	e.SourceBreaker = s.Breaker == sourceChoice
	return e
}

// sourceChoice and standardChoice are the values of settings that select the source design's numbers or the measured
// ones.
const (
	sourceChoice   = "source"
	standardChoice = "standard"
)

// check returns an error for a setting whose value is not one of its choices.
func (s *Settings) check() error {
	for _, c := range []struct{ member, value string }{{"adapt.rules", s.Adapt.Rules}, {"breaker", s.Breaker}} {
		if c.value != "" && c.value != sourceChoice && c.value != standardChoice {
			return fmt.Errorf("%s is %q; want %s or %s", c.member, c.value, standardChoice, sourceChoice)
		}
	}
	if !(s.ImportsPerDay >= 0 && s.ImportsPerDay <= 1e9) {
		return fmt.Errorf("importsPerDay is %v; want the number of files of a quiet day, or 0 if it is unknown", s.ImportsPerDay)
	}
	return nil
}

// Belongs returns an error if account or region, taken from the credentials, differs from the environment's. An
// empty text on either side means unknown, and is not compared.
func (e Environment) Belongs(account, region string) error {
	for _, c := range []struct{ what, own, given string }{
		{"account", e.Account, account}, {"region", e.Region, region},
	} {
		if c.own != "" && c.given != "" && c.own != c.given {
			return fmt.Errorf("environment %q belongs to %s %s, but the credentials are for %s", e.Name, c.what, c.own,
				c.given)
		}
	}
	return nil
}

// Subscribed reports whether there are any subscribers.
func (s Subscribers) Subscribed() bool { return len(s.Emails)+len(s.Endpoints) > 0 }
