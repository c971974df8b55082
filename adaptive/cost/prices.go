package cost

import (
	"cmp"

	"stepback/adaptive/worth"
	"stepback/aws/prices"
)

// Prices holds what AWS charges in one region, in USD.
type Prices struct {
	Region, Date, Source string
	Architecture         worth.Architecture // of the functions
	Transitions          float64            // 1,000 state transitions of STANDARD executions
	ExpressRequests      float64            // 1,000,000 EXPRESS executions
	ExpressGBSecond      float64            // for EXPRESS executions, within the first 1,000 GB-hours of a month
	Invocations          float64            // 1,000,000 Lambda invocations
	GBSecond             float64            // for functions on Architecture
	DurableOperations    float64            // 1,000,000 operations of durable functions
	DurableGB            float64            // a GB that executions of durable functions write
	DurableGBMonth       float64            // a GB that durable functions keep for a month
	CapacityHour         float64            // one Aurora capacity unit for an hour
	IORequests           float64            // 1,000,000 I/O requests of Aurora Standard storage
	StorageGBMonth       float64            // S3 Standard
	Traces               float64            // 1,000,000 traces recorded by X-Ray
	TableWrites          float64            // 1,000,000 write request units of an on-demand DynamoDB table
	EndpointHour         float64            // an interface VPC endpoint in one zone for an hour
}

// DefaultPrices returns the prices of prices.Default for functions of an architecture, without free tiers and
// discounts. An empty architecture means x86_64, Lambda's default.
func DefaultPrices(a worth.Architecture) Prices {
	l, compute := prices.InDefault(), prices.LambdaGBSecondX86
	if a == worth.Arm {
		compute = prices.LambdaGBSecondArm
	}
	return Prices{
		Region:          l.Region,
		Date:            l.Month(),
		Source:          l.Source,
		Architecture:    cmp.Or(a, worth.X86),
		Transitions:     l.Of(prices.StateTransitions),
		ExpressRequests: l.Of(prices.ExpressRequests),
		ExpressGBSecond: l.Of(prices.ExpressGBSecond),
		Invocations:     l.Of(prices.LambdaRequests),
		GBSecond:        l.Of(compute),
		DurableOperations: l.Of(
			prices.DurableOperations,
		),
		DurableGB:      l.Of(prices.DurableGB),
		DurableGBMonth: l.Of(prices.DurableGBMonth),
		CapacityHour:   l.Of(prices.AuroraCapacityHour),
		IORequests:     l.Of(prices.AuroraIORequests),
		StorageGBMonth: l.Of(prices.S3GBMonth),
		Traces:         l.Of(prices.XRayTraces),
		TableWrites:    l.Of(prices.DynamoDBWrites),
		EndpointHour:   l.Of(prices.EndpointHour),
	}
}

// Item is one item of a cost.
type Item struct {
	Name     string  `json:"item"`
	Quantity float64 `json:"quantity"`
	Unit     string  `json:"unit,omitempty"`
	USD      float64 `json:"usd"`
}

// Total returns the sum of items in USD.
func Total(items []Item) float64 {
	var sum float64
	for _, i := range items {
		sum += i.USD
	}
	return sum
}
