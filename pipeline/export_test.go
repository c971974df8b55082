package pipeline

import (
	"stepback/engine/journal"
	"stepback/localcloud/lambda"
)

// The functions of the import, as AdjustFunction sees them.
const (
	ValidateFunction  = validateFunction
	ProcessFunction   = processFunction
	AggregateFunction = aggregateFunction
)

// AdjustFunction lets a test change a function before it is registered.
func (c *Config) AdjustFunction(adjust func(*lambda.Function)) { c.adjust = adjust }

// Journal is the pipeline's journal.
func (p *Pipeline) Journal() journal.Journal { return p.journal }
