package expression

import (
	"stepback/asl/jsonata"
	"stepback/internal/budgets"
)

// limits bound every evaluation. Depth is the limit measured at the service, where a sum of 200 terms overflows the
// stack and one of 95 does not. Memory was measured as well: [1..873782] is the longest range, and a text of 4 MiB
// fits while one of 8 MiB does not. The service also limits time. Here steps are counted instead, which has the
// same effect on every machine.
var limits = jsonata.Limits{Depth: budgets.ExpressionDepth.Value, Steps: budgets.ExpressionSteps.Value,
	Memory: budgets.ExpressionMemory.Value}
