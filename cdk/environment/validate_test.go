package environment_test

import (
	"strings"
	"testing"
	"time"

	"stepback/cdk/environment"
)

func TestEnvironmentsAreValid(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, e := range environment.All() {
		if err := e.Validate(); err != nil {
			t.Error(err)
		}
		names[e.Name] = true
	}
	if len(names) != 3 || !names["dev"] || !names["stg"] || !names["prod"] {
		t.Errorf("environments %v", names)
	}
}

func TestValidateSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*environment.Environment){
		`Name is "Dev"; want a letter and up to 11 more of a-z, 0-9 and -`:      func(e *environment.Environment) { e.Name = "Dev" },
		`InputBucket is "A_b"; want 3 to 63 of a-z, 0-9, . and -`:               func(e *environment.Environment) { e.InputBucket = "A_b" },
		`InputBucket and ResultBucket are both "one"`:                           func(e *environment.Environment) { e.InputBucket, e.ResultBucket = "one", "one" },
		`ResultDays is 0; want 1 to 3650`:                                       func(e *environment.Environment) { e.ResultDays = 0 },
		`MaxFileBytes is 0; want 1 to 1073741824000, which is 1000 parts of`:    func(e *environment.Environment) { e.MaxFileBytes = 0 },
		`MaxFileBytes is 1073741824001; want 1 to 1073741824000`:                func(e *environment.Environment) { e.MaxFileBytes = 1000<<30 + 1 },
		`PartBytes is 1073741825; want 1 to 1073741824`:                         func(e *environment.Environment) { e.PartBytes = 1<<30 + 1 },
		`RangeConcurrency is 901; want 1 to 900`:                                func(e *environment.Environment) { e.RangeConcurrency = 901 },
		`AccountConcurrency is 0; want at least 2`:                              func(e *environment.Environment) { e.AccountConcurrency = 0 },
		`Concurrency × BatchConcurrency is 1000; want at most 900`:              func(e *environment.Environment) { e.Concurrency, e.BatchConcurrency = 100, 10 },
		`ProcessMemory is 64; want 128 to 10240`:                                func(e *environment.Environment) { e.ProcessMemory = 64 },
		`Architecture is "riscv"; want one of arm64, x86_64`:                    func(e *environment.Environment) { e.Architecture = "riscv" },
		`LogLevel is "OFF"; want ALL or ERROR, because retries are counted`:     func(e *environment.Environment) { e.LogLevel = "OFF" },
		`Guide is "docs/operating.md"; want an HTTPS URL`:                       func(e *environment.Environment) { e.Guide = "docs/operating.md" },
		`LogDays is 10; want one of [1 3 5 7 14`:                                func(e *environment.Environment) { e.LogDays = 10 },
		`"Ann <ann@example.com>" in Pages.Emails is not a bare`:                 func(e *environment.Environment) { e.Pages.Emails = []string{"Ann <ann@example.com>"} },
		`"ann@example.com" appears twice in Notices.Emails`:                     func(e *environment.Environment) { e.Notices.Emails = []string{"ann@example.com", "ann@example.com"} },
		`"http://example.com" in Imports.Endpoints is not an HTTPS URL`:         func(e *environment.Environment) { e.Imports.Endpoints = []string{"http://example.com"} },
		`Account is "12"; want 12 digits`:                                       func(e *environment.Environment) { e.Account = "12" },
		`Region is "Ireland"; want one such as eu-west-1`:                       func(e *environment.Environment) { e.Region = "Ireland" },
		`RecordValue is -1; want USD, or 0 to give up no retries`:               func(e *environment.Environment) { e.RecordValue = -1 },
		`MonthlyBudget is -1; want USD, or 0 for none`:                          func(e *environment.Environment) { e.MonthlyBudget = -1 },
		`Database.SecretARN is "db"; want the complete ARN`:                     func(e *environment.Environment) { e.Database.SecretARN = "db" },
		`Database needs both SubnetIDs and SecurityGroupIDs, or neither`:        func(e *environment.Environment) { e.Database.SubnetIDs = []string{"subnet-1"} },
		`Database.MinCapacity is 0.3; want 0 to MaxCapacity (2) in halves`:      func(e *environment.Environment) { e.Database.MinCapacity = 0.3 },
		`Database.MaxCapacity is 0.5; want 1 to 256 in halves`:                  func(e *environment.Environment) { e.Database.MaxCapacity = 0.5 },
		`Database.AutoPause is 1m0s; want whole seconds from 5m to 24h`:         func(e *environment.Environment) { e.Database.AutoPause = time.Minute },
		`Canary is {100 15}; want 1 to 99 percent for 1 to 2100 minutes`:        func(e *environment.Environment) { e.Canary = environment.Canary{Percentage: 100, Minutes: 15} },
		`Adapt is "always"; want "dry-run", "on" or ""`:                         func(e *environment.Environment) { e.Adapt = "always" },
		`Adapt is "on" and LogLevel "ERROR"; the controller needs LogLevel ALL`: func(e *environment.Environment) { e.LogLevel = "ERROR" },
		`Relay.To is "https://example.com"; want imports, or the ARN of`:        func(e *environment.Environment) { e.Relay.To = "https://example.com" },
		`Relay polls the database every minute, so it would never pause`:        func(e *environment.Environment) { e.Relay.To = "imports" },
		`Database.BackupDays is 36; want 1 to 35`:                               func(e *environment.Environment) { e.Database.BackupDays = 36 },
		`Database has SubnetIDs but no SecretARN; the stack creates`: func(e *environment.Environment) {
			e.Database.SubnetIDs, e.Database.SecurityGroupIDs = []string{"s"}, []string{"g"}
		},
	} {
		e := environment.Dev()
		change(&e)
		if err := e.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestEnvironmentsOnALaptop: each environment can be deployed to stepback serve with its database replaced, and to no real
// account.
func TestEnvironmentsOnALaptop(t *testing.T) {
	t.Parallel()
	for _, e := range environment.All() {
		e.Account, e.Region = "123456789012", "eu-west-1"
		l := e.OnLaptop("x86_64")
		if err := l.Validate(); err != nil {
			t.Error(err)
		}
		if want := "/stepback/" + e.Name + "/database"; l.Database.URLParameter != want || l.Database.MaxCapacity != 0 {
			t.Errorf("%s has the database %+v; want the URL in %s", e.Name, l.Database, want)
		}
		if l.Concurrency != e.Concurrency || l.LogLevel != e.LogLevel || l.Adapt != e.Adapt || l.Canary != e.Canary ||
			l.Relay != e.Relay || l.KeepData != e.KeepData {
			t.Errorf("%s differs on a laptop: %+v", e.Name, l)
		}
		if err := l.Belongs("000000000000", "us-east-1"); err != nil {
			t.Error(err)
		}
		if err := l.Belongs("123456789012", "eu-west-1"); err == nil {
			t.Errorf("%s for a laptop can be deployed to a real account", e.Name)
		}
	}
}

func TestLaptop(t *testing.T) {
	t.Parallel()
	e := environment.Laptop("x86_64")
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	e.Database.SecretARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:db-a1b2c3"
	if err := e.Validate(); err == nil {
		t.Error("two databases are allowed")
	}
	e.Database = environment.Database{URLParameter: "/a b"}
	if err := e.Validate(); err == nil {
		t.Error("a name with a blank is allowed")
	}
}
