package expression

import "stepback/asl/jsonata"

// limits bound every evaluation. The depth is the one measured at the service, where a sum of 200 terms overflows the
// stack and one of 95 does not. The memory is what was measured too: [1..873782] is the longest range and a text of 4
// MiB fits, one of 8 MiB does not. The service bounds time as well; counting steps bounds it the same way on every
// machine.
var limits = jsonata.Limits{Depth: maxDepth, Steps: maxSteps, Memory: maxMemory}

const (
	maxDepth = 100
	maxSteps = 5_000_000

	maxMemory = 873_782 * 8
)
