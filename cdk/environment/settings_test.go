package environment_test

import (
	"os"
	"strings"
	"testing"

	"stepback/cdk/environment"
)

// The committed files can be read, and give valid environments.
func TestCommittedSettings(t *testing.T) {
	t.Parallel()
	for _, e := range environment.All() {
		file := "../environments/" + e.Name + ".json"
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := environment.ReadSettings(file, text)
		if err == nil {
			err = e.Set(s).Validate()
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s, err := environment.ReadSettings("prod.json", []byte(`{"account": "123456789012", "region": "eu-west-1",
		"accountConcurrency": 150, "pages": {"endpoints": ["https://pager.example.com/in"]},
		"database": {"secretArn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-a1b2c3"}, "owner": "data"}`))
	if err != nil {
		t.Fatal(err)
	}
	e := environment.Prod().Set(s)
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	if e.Account != "123456789012" || e.Region != "eu-west-1" || e.Concurrency != 135 || e.Owner != "data" ||
		e.Pages.Endpoints[0] != "https://pager.example.com/in" || !e.Pages.Subscribed() || e.Notices.Subscribed() ||
		!strings.HasSuffix(e.Database.SecretARN, "db-a1b2c3") || e.Database.MaxCapacity != 0 {
		t.Errorf("%+v", e)
	}
	if aurora := environment.Prod().Set(environment.Settings{}); aurora.Database.MaxCapacity != 16 {
		t.Errorf("without settings the database is %+v", aurora.Database)
	}
	for text, want := range map[string]string{
		"{\n\"acount\": \"1\"}": `prod.json, line 2: json: unknown field "acount"`,
		`{"region": 1}`:         "prod.json, line 1: json: cannot unmarshal number into Go struct field Settings.region of type string",
		`{} {}`:                 "prod.json, line 1: unexpected text after the object",
		"":                      "prod.json, line 1: EOF",
	} {
		if _, err := environment.ReadSettings("prod.json", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestSettingsOfTheController(t *testing.T) {
	t.Parallel()
	read := func(text string) (environment.Environment, error) {
		s, err := environment.ReadSettings("prod.json", []byte(text))
		return environment.Prod().Set(s), err
	}
	if e, err := read(`{}`); err != nil || e.Adapt != environment.AdaptDryRun {
		t.Errorf("prod's controller is %q, %v", e.Adapt, err)
	}
	if e, err := read(`{"adapt": {"mode": "off"}}`); err != nil || e.Adapt != environment.AdaptOff || e.Validate() != nil {
		t.Errorf("off is %q, %v, %v", e.Adapt, err, e.Validate())
	}
	e, err := read(`{"adapt": {"mode": "on", "rules": "source", "capacity": 900, "concurrencyLimit": 200,
		"loadHours": "Asia/Tokyo", "delayPerHourUSD": 0.01}, "breaker": "source", "recordValueUSD": 0.001}`)
	if err != nil || e.Validate() != nil || e.Adapt != environment.AdaptOn || !e.SourceBreaker ||
		e.Control != (environment.Control{SourceRules: true, Capacity: 900, ConcurrencyLimit: 200, LoadHours: "Asia/Tokyo",
			DelayPerHour: 0.01}) {
		t.Errorf("%+v, %v, %v", e.Control, err, e.Validate())
	}
	for text, want := range map[string]string{
		`{"adapt": {"rules": "mine"}}`:                        `prod.json: adapt.rules is "mine"; want standard or source`,
		`{"breaker": "5"}`:                                    `prod.json: breaker is "5"; want standard or source`,
		`{"adapt": {"mode": "sometimes"}}`:                    `Adapt is "sometimes"; want "dry-run", "on" or ""`,
		`{"adapt": {"loadHours": "Asia/Tokyo"}}`:              `are for the source's rules; set SourceRules, too`,
		`{"adapt": {"rules": "source", "loadHours": "noon"}}`: `Control.LoadHours is "noon"; want a time zone`,
		`{"adapt": {"delayPerHourUSD": 1}}`:                   `Control.DelayPerHour is 1 without a RecordValue`,
		`{"adapt": {"capacity": -1}}`:                         `Control.Capacity is -1; want 0 to 1e9`,
		`{"adapt": {"mode": "off"}, "recordValueUSD": 0.001}`: `Adapt is off, and Control or RecordValue is set`,
		`{"adapt": {"mode": "off", "capacity": 1}}`:           `Adapt is off, and Control or RecordValue is set`,
	} {
		e, err := read(text)
		if err == nil {
			err = e.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestBelongs(t *testing.T) {
	t.Parallel()
	e := environment.Prod()
	e.Account, e.Region = "123456789012", "eu-west-1"
	for _, c := range []struct{ account, region, want string }{
		{"123456789012", "eu-west-1", ""},
		{"", "", ""},
		{"111111111111", "eu-west-1",
			`environment "prod" belongs to account 123456789012, but the credentials are for 111111111111`},
		{"123456789012", "us-east-1",
			`environment "prod" belongs to region eu-west-1, but the credentials are for us-east-1`},
	} {
		err := e.Belongs(c.account, c.region)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s %s: %v, want %q", c.account, c.region, err, c.want)
		}
	}
	if err := environment.Dev().Belongs("111111111111", "us-east-1"); err != nil {
		t.Errorf("an environment without an account: %v", err)
	}
}

// TestACanarySeesImports: with the number of imports of a quiet day, a canary lasts until it has probably seen five.
func TestACanarySeesImports(t *testing.T) {
	t.Parallel()
	prod := environment.Canary{Percentage: 20, Minutes: 15}
	for perDay, want := range map[float64]environment.Canary{
		0:      prod,                            // unknown
		10_000: prod,                            // 21 imports in a quarter of an hour
		2400:   {Percentage: 20, Minutes: 15},   // exactly five
		24:     {Percentage: 20, Minutes: 1500}, // one an hour: 25 h
		10:     {Percentage: 35, Minutes: 2100}, // 3,600 minutes are too long
		1:      {Percentage: 50, Minutes: 2100}, // it will see fewer than one
	} {
		if got := prod.Seeing(perDay); got != want {
			t.Errorf("%v imports a day: %+v, want %+v", perDay, got, want)
		}
	}
	if got := (environment.Canary{}).Seeing(24); got != (environment.Canary{}) {
		t.Errorf("without a canary: %+v", got)
	}
	s := environment.Settings{ImportsPerDay: 24}
	e := environment.Prod().Set(s)
	if err := e.Validate(); err != nil || e.Canary.Minutes != 1500 {
		t.Errorf("%+v, %v", e.Canary, err)
	}
}
