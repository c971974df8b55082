package data

// Data implements the verb data.
type Data struct {
	Check   Check   `cmd:"" help:"Check every record and file of all stores."`
	Compact Compact `cmd:"" help:"Remove old executions and free their disk space."`
	Repair  Repair  `cmd:"" help:"Recover what is intact in damaged stores, and list the rest."`
	Export  Export  `cmd:"" help:"Print executions with their histories as JSON lines, or export all stores."`
}
