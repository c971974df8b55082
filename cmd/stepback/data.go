package main

type dataCmd struct {
	Check   dataCheckCmd   `cmd:"" help:"Check every record of the journal."`
	Compact dataCompactCmd `cmd:"" help:"Remove old executions and free their disk space."`
	Repair  dataRepairCmd  `cmd:"" help:"Recover the intact records of a damaged journal, and list the others."`
	Export  dataExportCmd  `cmd:"" help:"Print executions with their histories as JSON lines."`
}
