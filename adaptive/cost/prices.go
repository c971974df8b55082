package cost

// Prices holds what AWS charges in one region, in USD.
type Prices struct {
	Region, Date, Source string
	Transitions          float64 // 1,000 state transitions of STANDARD executions
	ExpressRequests      float64 // 1,000,000 EXPRESS executions
	ExpressGBSecond      float64 // for EXPRESS executions, within the first 1,000 GB-hours of a month
	Invocations          float64 // 1,000,000 Lambda invocations
	GBSecond             float64 // for functions on arm64
	CapacityHour         float64 // one Aurora capacity unit for an hour
	IORequests           float64 // 1,000,000 I/O requests of Aurora Standard storage
	StorageGBMonth       float64 // S3 Standard
	Traces               float64 // 1,000,000 traces recorded by X-Ray
	TableWrites          float64 // 1,000,000 write request units of an on-demand DynamoDB table
	EndpointHour         float64 // an interface VPC endpoint in one zone for an hour
}

// DefaultPrices returns the prices of us-east-1 in November 2026, without free tiers and discounts.
func DefaultPrices() Prices {
	return Prices{
		Region: "us-east-1", Date: "2026-11", Source: "secondary sources", Transitions: 0.025, ExpressRequests: 1,
		ExpressGBSecond: 0.00001667, Invocations: 0.20, GBSecond: 0.0000133334, CapacityHour: 0.12, IORequests: 0.20,
		StorageGBMonth: 0.023, Traces: 5, TableWrites: 0.625, EndpointHour: 0.01,
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
