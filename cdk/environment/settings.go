package environment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Settings are what belongs to one owner's deployment of an environment, in place of the design: where it is deployed and
// who hears of it. They are kept in a file beside the code, cdk/environments/NAME.json, so that two deployments of the
// same commit are the same.
type Settings struct {
	// Account and Region are where the environment may be deployed, and nowhere else. Empty means wherever the
	// credentials lead, which environments that keep their data refuse when they are deployed.
	Account string `json:"account"`
	Region  string `json:"region"`
	// AccountConcurrency is how many invocations the account runs at a time in the region; see Within. 0 is 1,000.
	AccountConcurrency int `json:"accountConcurrency"`

	Pages   Subscribers `json:"pages"`
	Notices Subscribers `json:"notices"`
	Imports Subscribers `json:"imports"`
	Guide   string      `json:"guide"`

	// Database is an existing database in place of the environment's own; with an empty SecretARN there is none.
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
	// RecordValue is Environment.RecordValue.
	RecordValue float64 `json:"recordValueUSD"`
}

// Subscribers hear of what is told to one topic: e-mail addresses and HTTPS URLs. Each has to confirm its subscription
// once.
type Subscribers struct {
	Emails    []string `json:"emails"`
	Endpoints []string `json:"endpoints"`
}

// ReadSettings reads a file of settings; file is its name, for errors. A member that does not exist is an error, since it
// is a mistyped one.
func ReadSettings(file string, text []byte) (Settings, error) {
	var s Settings
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&s)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is something behind the object")
		}
	}
	if err != nil {
		line := 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte{'\n'})
		return s, fmt.Errorf("%s, line %d: %w", file, line, err)
	}
	return s, nil
}

// Set returns the environment as settings have it.
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
	return e
}

// Belongs fails when credentials are for another account or region than the environment's. What is not known, an empty
// text on either side, is not compared.
func (e Environment) Belongs(account, region string) error {
	for _, c := range []struct{ what, own, given string }{
		{"account", e.Account, account}, {"region", e.Region, region},
	} {
		if c.own != "" && c.given != "" && c.own != c.given {
			return fmt.Errorf("environment %q belongs to the %s %s, and the credentials are for %s", e.Name, c.what, c.own,
				c.given)
		}
	}
	return nil
}

// Subscribed tells whether anybody is.
func (s Subscribers) Subscribed() bool { return len(s.Emails)+len(s.Endpoints) > 0 }
