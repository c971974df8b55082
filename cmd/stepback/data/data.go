package data

// Data implements the verb data.
type Data struct {
	Check   Check   `cmd:"" help:"Check every record of the journal."`
	Compact Compact `cmd:"" help:"Remove old executions and free their disk space."`
	Repair  Repair  `cmd:"" help:"Recover the intact records of a damaged journal, and list the others."`
	Export  Export  `cmd:"" help:"Print executions with their histories as JSON lines."`
}
