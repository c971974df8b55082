package environment

import (
	"time"

	"stepback/csvimport/validate"
	"stepback/statemachine"
)

// All returns the deployed environments: dev, stg and prod.
func All() []Environment { return []Environment{Dev(), Stg(), Prod()} }

// base returns the settings common to all environments.
func base(name string) Environment {
	o := statemachine.DefaultOptions()
	return Environment{
		Name:                       name,
		InputDays:                  30,
		ResultDays:                 90,
		MaxFileBytes:               validate.DefaultMaxBytes,
		PartBytes:                  statemachine.DefaultPartBytes,
		Shape:                      o.Shape,
		Concurrency:                o.Concurrency,
		BatchSize:                  o.BatchSize,
		RangeConcurrency:           o.RangeConcurrency,
		BatchConcurrency:           o.BatchConcurrency,
		FilesConcurrency:           statemachine.FilesSubstitutions().Concurrency,
		ToleratedFailurePercentage: o.ToleratedFailurePercentage,
		Timeout:                    o.Timeout,
		AccountConcurrency:         defaultAccountConcurrency,
		ValidateMemory:             1024,
		ProcessMemory:              256,
		AggregateMemory:            1024,
		Architecture:               "arm64",
	}
}

// Dev returns an environment that costs little while it is idle (alarms, the metrics of the configuration, a secret and
// functions on a schedule, about 9 USD a month), keeps no data and logs everything.
func Dev() Environment {
	e := base("dev")
	e.Concurrency = 10
	e.InputDays, e.ResultDays = 7, 7
	e.LogLevel, e.LogExecutionData, e.LogDays = "ALL", true, 7
	e.Adapt = AdaptOn
	e.Database = Database{MinCapacity: 0, MaxCapacity: 2, AutoPause: 10 * time.Minute, BackupDays: 1}
	return e
}

// Stg returns a smaller version of prod.
func Stg() Environment {
	e := base("stg")
	e.LogLevel, e.LogDays = "ALL", 30
	e.Adapt = AdaptDryRun
	e.Database = Database{MinCapacity: 0, MaxCapacity: 4, AutoPause: 30 * time.Minute, BackupDays: 7}
	return e
}

// Prod returns an environment that keeps its data, never pauses and has a standby instance. It logs everything, because
// in the shape bulk that costs little more than logging failures (a test compares the prices), and the controller
// proposes changes.
func Prod() Environment {
	e := base("prod")
	e.Concurrency = 200
	e.InputDays, e.ResultDays = 90, 365
	e.KeepData = true
	e.ProcessMemory = 512
	e.LogLevel, e.LogDays = "ALL", 90
	e.Adapt = AdaptDryRun
	e.Database = Database{MinCapacity: 0.5, MaxCapacity: 16, Readers: 1, BackupDays: 14}
	e.Relay = Relay{To: RelayToImports}
	e.Canary = Canary{Percentage: 20, Minutes: 15}
	return e
}

// Laptop returns dev for `stepback serve`, with its own name and the database of OnLaptop.
func Laptop(architecture string) Environment {
	e := Dev()
	e.Name = "laptop"
	return e.OnLaptop(architecture)
}

// OnLaptop returns the environment for `stepback serve`. It has the same template, with two exceptions: the database's URL
// is in the SSM parameter /stepback/NAME/database, and the architecture is the given one, this machine's. The account
// and region of the settings do not apply there.
func (e Environment) OnLaptop(architecture string) Environment {
	e.Architecture = architecture
	e.Database = Database{URLParameter: "/stepback/" + e.Name + "/database"}
	e.Account, e.Region = LaptopAccount, ""
	return e
}

// LaptopAccount is the account of `stepback serve` for access keys that name no account. AWS has no account of that
// number, so an environment for a laptop cannot replace the one that is deployed to AWS.
const LaptopAccount = "000000000000"

// Local returns an environment for an AWS-compatible endpoint on this machine, such as LocalStack. Its batch size
// is 1, the only one that LocalStack supports. Its database is the one described by the secret secretARN.
func Local(secretARN, architecture string) Environment {
	e := Dev()
	e.Name = "local"
	e.Shape, e.BatchSize = statemachine.Single, 1
	e.Architecture = architecture
	e.Database = Database{SecretARN: secretARN}
	e.Adapt = AdaptOff
	return e
}
