package history

import "strings"

// Status is an execution's status as the API spells it.
type Status string

// The statuses of an execution, and of a Map Run.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
)

// Origin is what an execution is started with: the part of its Info that its caller chooses.
type Origin struct {
	Name string `json:"name"`
	// VersionARN and AliasARN are what the execution is started by; empty when it is the machine itself.
	VersionARN string `json:"stateMachineVersionArn,omitempty"`
	AliasARN   string `json:"stateMachineAliasArn,omitempty"`
	// Revision is the caller's own name for the state of the machine; the engine only keeps it. So it is with
	// TraceHeader.
	Revision    string `json:"revision,omitempty"`
	TraceHeader string `json:"traceHeader,omitempty"`
	// Sync says that the caller waits for the end of the EXPRESS execution. Its context object has no RedriveCount.
	Sync bool `json:"sync,omitempty"`
	// Input is JSON text.
	Input string `json:"input"`
	// TestCase names the case by which the tasks of the execution are mocked; empty means that none is.
	TestCase string `json:"testCase,omitempty"`
}

// Info is what an execution is. It is the same from the execution's beginning to its end, and after a redrive.
type Info struct {
	ARN        string `json:"executionArn"`
	MachineARN string `json:"stateMachineArn"`
	Express    bool   `json:"express,omitempty"`
	Origin
	// Definition is the ID of what the execution runs; empty for a child execution, which runs a part of its parent's.
	Definition string `json:"definition,omitempty"`
	// MapRunARN is the Map Run of a child execution; empty for all others. FirstItem and Items say which of the Map
	// Run's items it has: the index of the first and how many.
	MapRunARN string `json:"mapRunArn,omitempty"`
	FirstItem int64  `json:"firstItem,omitempty"`
	Items     int64  `json:"itemCount,omitempty"`
	// LastItem tells which the last of them is, when the items are a listing, so that a changed listing is noticed.
	LastItem string `json:"lastItem,omitempty"`
}

// ExecutionARN names a STANDARD execution of a machine. The machine of a distributed Map's child executions has a
// labelled ARN (machine/label).
func ExecutionARN(machineARN, name string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + name
}

// ExpressARN names an EXPRESS execution, whose name alone does not identify it.
func ExpressARN(machineARN, name, id string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":express:", 1) + ":" + name + ":" + id
}
