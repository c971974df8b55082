package expression

import "stepback/asl/jsonata"

// limits bound every evaluation. Depth is the limit measured at the service, where a sum of 200 terms overflows the
// stack and one of 95 does not. Memory was measured as well: [1..873782] is the longest range, and a text of 4 MiB
// fits while one of 8 MiB does not. The service also limits time. Here steps are counted instead, which has the
// same effect on every machine.
var limits = jsonata.Limits{Depth: maxDepth, Steps: maxSteps, Memory: maxMemory}

const (
	maxDepth = 100
	maxSteps = 5_000_000

	maxMemory = 873_782 * 8
)
