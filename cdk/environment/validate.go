package environment

import (
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"stepback/csvimport/validate"
	"stepback/statemachine"
)

var (
	legalName     = regexp.MustCompile(`^[a-z][a-z0-9-]{0,11}$`)
	legalBucket   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	legalAccount  = regexp.MustCompile(`^\d{12}$`)
	legalRegion   = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)
	secretARN     = regexp.MustCompile(`^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:.+-\w{6}$`)
	parameterName = regexp.MustCompile(`^/?[a-zA-Z0-9_.-]+(/[a-zA-Z0-9_.-]+)*$`)

	architectures = []string{"arm64", "x86_64"}
	logLevels     = []string{"ALL", "ERROR"}
	// logDays lists the retention periods of CloudWatch Logs.
	logDays = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288,
		3653}
)

// Validate returns everything that is wrong with the environment, joined. The state machine's options are checked
// when the definition is written.
func (e Environment) Validate() error {
	var c checker
	c.that(legalName.MatchString(e.Name), "Name is %q; want a letter and up to 11 more of a-z, 0-9 and -", e.Name)
	c.bucket("InputBucket", e.InputBucket)
	c.bucket("ResultBucket", e.ResultBucket)
	c.that(e.InputBucket == "" || e.InputBucket != e.ResultBucket,
		"InputBucket and ResultBucket are both %q; a result in the input bucket would start an import", e.InputBucket)
	c.within("InputDays", e.InputDays, 1, 3650)
	c.within("ResultDays", e.ResultDays, 1, 3650)
	c.that(e.MaxFileBytes >= 1 && e.MaxFileBytes <= validate.MaxFileBytes,
		"MaxFileBytes is %d; want 1 to %d, which is %d parts of 1 GiB", e.MaxFileBytes,
		int64(validate.MaxFileBytes), statemachine.MaxParts)
	c.that(e.PartBytes >= 1 && e.PartBytes <= statemachine.MaxPartBytes,
		"PartBytes is %d; want 1 to %d, so that a part is written within a function's timeout", e.PartBytes,
		int64(statemachine.MaxPartBytes))
	c.that(e.RangeConcurrency >= 1 && e.RangeConcurrency <= e.maxInvocations(),
		"RangeConcurrency is %d; want 1 to %d, or Lambda throttles all functions of the account", e.RangeConcurrency,
		e.maxInvocations())
	c.that(e.AccountConcurrency >= 2, "AccountConcurrency is %d; want at least 2", e.AccountConcurrency)
	c.that(e.Concurrency*e.BatchConcurrency <= e.maxInvocations(),
		"Concurrency × BatchConcurrency is %d; want at most %d, or Lambda throttles all functions of the account",
		e.Concurrency*e.BatchConcurrency, e.maxInvocations())
	c.that(e.FilesConcurrency >= 1 && e.FilesConcurrency <= max(1, e.maxInvocations()/max(e.Concurrency*e.BatchConcurrency, 1)),
		"FilesConcurrency is %d; want at least 1, and FilesConcurrency × Concurrency × BatchConcurrency at most %d, or Lambda throttles all functions of the account",
		e.FilesConcurrency, e.maxInvocations())
	c.within("ValidateMemory", e.ValidateMemory, 128, 10240)
	c.within("ProcessMemory", e.ProcessMemory, 128, 10240)
	c.within("AggregateMemory", e.AggregateMemory, 128, 10240)
	c.that(slices.Contains(architectures, e.Architecture), "Architecture is %q; want one of %s", e.Architecture,
		strings.Join(architectures, ", "))
	c.that(slices.Contains(logLevels, e.LogLevel), "LogLevel is %q; want %s, because retries are counted from the log",
		e.LogLevel, strings.Join(logLevels, " or "))
	c.that(slices.Contains(logDays, e.LogDays), "LogDays is %d; want one of %v", e.LogDays, logDays)
	c.that(e.Account == "" || legalAccount.MatchString(e.Account), "Account is %q; want 12 digits", e.Account)
	c.that(e.Region == "" || legalRegion.MatchString(e.Region), "Region is %q; want one such as eu-west-1", e.Region)
	c.subscribers("Pages", e.Pages)
	c.subscribers("Notices", e.Notices)
	c.subscribers("Imports", e.Imports)
	c.bucket("AccessLogBucket", e.AccessLogBucket)
	c.that(e.MonthlyBudget >= 0 && e.MonthlyBudget < 1e9, "MonthlyBudget is %v; want USD, or 0 for none",
		e.MonthlyBudget)
	c.that(e.RecordValue >= 0 && e.RecordValue < 1e6, "RecordValue is %v; want USD, or 0 to give up no retries", e.RecordValue)
	if e.Guide != "" {
		u, err := url.Parse(e.Guide)
		c.that(err == nil && u.Scheme == "https" && u.Host != "" && u.Fragment == "",
			"Guide is %q; want an HTTPS URL without a fragment", e.Guide)
	}
	c.database(e.Database)
	c.that(e.Adapt == AdaptOff || e.Adapt == AdaptDryRun || e.Adapt == AdaptOn, "Adapt is %q; want %q, %q or \"\"",
		e.Adapt, AdaptDryRun, AdaptOn)
	c.that(e.Adapt == AdaptOff || e.LogLevel == "ALL",
		"Adapt is %q and LogLevel %q; the controller needs LogLevel ALL, because it measures attempts", e.Adapt,
		e.LogLevel)
	c.control(e)
	c.that(e.Canary == Canary{} || e.Canary.Percentage >= 1 && e.Canary.Percentage <= 99 && e.Canary.Minutes >= 1 &&
		e.Canary.Minutes <= maxCanaryMinutes, "Canary is %v; want 1 to 99 percent for 1 to 2100 minutes, or the zero value", e.Canary)
	c.that(e.Relay.To == "" || e.Relay.Service() != "",
		"Relay.To is %q; want %s, or the ARN of an SNS topic, an SQS queue or an EventBridge event bus", e.Relay.To,
		RelayToImports)
	c.that(e.Relay.To == "" || e.Database.Exists() || e.Database.MinCapacity > 0,
		"Relay polls the database every minute, so it would never pause; set Database.MinCapacity above 0")
	if err := errors.Join(c...); err != nil {
		return fmt.Errorf("environment %q: %w", e.Name, err)
	}
	return nil
}

// checker collects errors.
type checker []error

func (c *checker) that(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Errorf(format, args...))
	}
}

func (c *checker) within(name string, n, low, high int) {
	c.that(n >= low && n <= high, "%s is %d; want %d to %d", name, n, low, high)
}

func (c *checker) once(name string, all []string) {
	for i, one := range all {
		c.that(!slices.Contains(all[:i], one), "%q appears twice in %s", one, name)
	}
}

func (c *checker) subscribers(field string, s Subscribers) {
	for _, email := range s.Emails {
		a, err := mail.ParseAddress(email)
		c.that(err == nil && a.Address == email, "%q in %s.Emails is not a bare e-mail address", email, field)
	}
	for _, endpoint := range s.Endpoints {
		u, err := url.Parse(endpoint)
		c.that(err == nil && u.Scheme == "https" && u.Host != "", "%q in %s.Endpoints is not an HTTPS URL", endpoint,
			field)
	}
	c.once(field+".Emails", s.Emails)
	c.once(field+".Endpoints", s.Endpoints)
}

func (c *checker) bucket(field, name string) {
	c.that(name == "" || legalBucket.MatchString(name) && !strings.Contains(name, ".."),
		"%s is %q; want 3 to 63 of a-z, 0-9, . and -", field, name)
}

// control checks the settings of the controller, and reports those that would have no effect.
func (c *checker) control(e Environment) {
	o := e.Control
	c.that(e.Adapt != AdaptOff || o == Control{} && e.RecordValue == 0,
		"Adapt is off, and Control or RecordValue is set, which only the controller uses")
	for _, n := range []struct {
		name  string
		value float64
	}{{"Capacity", o.Capacity}, {"ConcurrencyLimit", o.ConcurrencyLimit}, {"DelayPerHour", o.DelayPerHour}} {
		c.that(n.value >= 0 && n.value <= 1e9, "Control.%s is %v; want 0 to 1e9", n.name, n.value)
	}
	c.that(o.SourceRules || o.ConcurrencyLimit == 0 && o.LoadHours == "",
		"Control.ConcurrencyLimit and LoadHours are for the source's rules; set SourceRules, too")
	c.that(o.DelayPerHour == 0 || e.RecordValue > 0, "Control.DelayPerHour is %v without a RecordValue to compare it with",
		o.DelayPerHour)
	if o.LoadHours != "" {
		_, err := time.LoadLocation(o.LoadHours)
		c.that(err == nil, "Control.LoadHours is %q; want a time zone such as Asia/Tokyo", o.LoadHours)
	}
}

func (c *checker) database(d Database) {
	c.that((len(d.SubnetIDs) == 0) == (len(d.SecurityGroupIDs) == 0),
		"Database needs both SubnetIDs and SecurityGroupIDs, or neither")
	c.that(d.SecretARN == "" || d.URLParameter == "", "Database has both SecretARN and URLParameter")
	if d.URLParameter != "" {
		c.that(parameterName.MatchString(d.URLParameter), "Database.URLParameter is %q; want a name such as /stepback/database",
			d.URLParameter)
		return
	}
	if d.SecretARN != "" {
		c.that(secretARN.MatchString(d.SecretARN),
			"Database.SecretARN is %q; want the complete ARN, including the six random characters at its end", d.SecretARN)
		return
	}
	c.that(len(d.SubnetIDs) == 0, "Database has SubnetIDs but no SecretARN; the stack creates the subnets of its own cluster")
	c.that(d.MinCapacity >= 0 && halves(d.MinCapacity) && d.MinCapacity <= d.MaxCapacity,
		"Database.MinCapacity is %v; want 0 to MaxCapacity (%v) in halves", d.MinCapacity, d.MaxCapacity)
	c.that(d.MaxCapacity >= 1 && d.MaxCapacity <= 256 && halves(d.MaxCapacity),
		"Database.MaxCapacity is %v; want 1 to 256 in halves", d.MaxCapacity)
	if d.MinCapacity == 0 {
		c.that(d.AutoPause >= 5*time.Minute && d.AutoPause <= 24*time.Hour && d.AutoPause%time.Second == 0,
			"Database.AutoPause is %v; want whole seconds from 5m to 24h when MinCapacity is 0", d.AutoPause)
	}
	c.within("Database.Readers", d.Readers, 0, 2)
	c.within("Database.BackupDays", d.BackupDays, 1, 35)
}

func halves(units float64) bool { return units*2 == math.Trunc(units*2) }
