package statemachine

// Sizes of the parts of large files; see decision 068.
const (
	// DefaultPartBytes is the default size above which a file is validated and applied in parts: 128 MiB. A function
	// reads that in less than 10 s, and AggregateResults accounts for the rows of a part within its 118 s even if many
	// fail.
	DefaultPartBytes = 128 << 20
	// MaxPartBytes is the largest size of a part, 1 GiB, so that a function can write it within its timeout.
	MaxPartBytes = 1 << 30
	// MaxParts is the maximum number of parts of a file. Each takes PartEvents of the execution's history, so that half
	// of the 25,000 is left for retries.
	MaxParts = 1000
	// PartEvents is the number of events for a part: ProcessUserRecords 4, AggregateResults 5, CheckTolerance and
	// NextPart 2 each.
	PartEvents = 13
	// PartTransitions is the number of state transitions for a part, without those of its child executions: those four
	// states, and for its range the start of a child execution and ValidateRange.
	PartTransitions = 6
)
