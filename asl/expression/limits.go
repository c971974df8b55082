package expression

import "stepback/asl/jsonata"

// limits bound every evaluation. The depth is the one measured at the service, where a sum of 200 terms overflows the stack and
// one of 95 does not. The service bounds time as well; counting steps bounds it the same way on every machine.
var limits = jsonata.Limits{Depth: maxDepth, Steps: maxSteps}

const (
	maxDepth = 100
	maxSteps = 5_000_000
)
