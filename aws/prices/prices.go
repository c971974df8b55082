// Package prices holds AWS's prices in a single table, dated and by region, with their source. Prices are in USD
// and of the first tier, without free tiers and discounts.
//
// It is pure: it reads the embedded prices.json and nothing else.
package prices

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Default is the region that has a price for every item.
const Default = "us-east-1"

// Item is the name of something that has a price, as in prices.json.
type Item string

// The items.
const (
	StateTransitions    Item = "stateTransitions"    // 1,000 of STANDARD executions; a retry is one
	ExpressRequests     Item = "expressRequests"     // 1,000,000 EXPRESS executions
	ExpressGBSecond     Item = "expressGBSecond"     // of EXPRESS executions, the first 1,000 GB-hours of a month
	LambdaRequests      Item = "lambdaRequests"      // 1,000,000 invocations of functions
	LambdaGBSecondX86   Item = "lambdaGBSecondX86"   // a second of a function with 1,024 MB on x86_64
	LambdaGBSecondArm   Item = "lambdaGBSecondArm"   // a second of a function with 1,024 MB on arm64
	DurableOperations   Item = "durableOperations"   // 1,000,000 operations of durable functions; a retry of a step is one
	DurableGB           Item = "durableGB"           // a GB that executions of durable functions write
	DurableGBMonth      Item = "durableGBMonth"      // a GB that durable functions keep for a month
	AuroraCapacityHour  Item = "auroraCapacityHour"  // an Aurora capacity unit for an hour
	AuroraIORequests    Item = "auroraIORequests"    // 1,000,000 of Aurora's standard storage
	S3GBMonth           Item = "s3GBMonth"           // a GB in S3's standard class for a month
	XRayTraces          Item = "xrayTraces"          // 1,000,000 recorded traces
	DynamoDBWrites      Item = "dynamodbWrites"      // 1,000,000 write request units of a table on demand
	EndpointHour        Item = "endpointHour"        // an interface endpoint of a VPC in one zone for an hour
	LogGB               Item = "logGB"               // ingestion of a GB by CloudWatch Logs, standard class
	MetricMonth         Item = "metricMonth"         // a custom metric for a month, up to 10,000 of them
	AlarmMonth          Item = "alarmMonth"          // a metric in an alarm of standard resolution for a month
	CompositeAlarmMonth Item = "compositeAlarmMonth" // a composite alarm for a month
)

// Items returns every item.
func Items() []Item {
	return []Item{
		StateTransitions,
		ExpressRequests,
		ExpressGBSecond,
		LambdaRequests,
		LambdaGBSecondX86,
		LambdaGBSecondArm,
		DurableOperations,
		DurableGB,
		DurableGBMonth,
		AuroraCapacityHour,
		AuroraIORequests,
		S3GBMonth,
		XRayTraces,
		DynamoDBWrites,
		EndpointHour,
		LogGB,
		MetricMonth,
		AlarmMonth,
		CompositeAlarmMonth,
	}
}

// List holds the prices of one region.
type List struct {
	// Region is the region of the prices. Date is when they were read (YYYY-MM-DD). Source is where they were read.
	Region, Date, Source string
	prices               map[Item]float64
}

// table is the form of prices.json.
type table struct {
	Date    string                      `json:"date"`
	Source  string                      `json:"source"`
	Sources map[Item]string             `json:"sources"`
	Regions map[string]map[Item]float64 `json:"regions"`
}

//go:embed prices.json
var tableJSON []byte

var readTable = sync.OnceValues(func() (table, error) {
	var t table
	err := json.Unmarshal(tableJSON, &t)
	return t, err
})

// In returns the prices of a region, of which the caller uses the given items. If the region is unknown, or has no
// price for one of them, the error names it, the item, and the regions that have prices for all.
func In(region string, items ...Item) (List, error) {
	t, err := readTable()
	if err != nil {
		return List{}, fmt.Errorf("table of prices: %w", err)
	}
	if t.Regions[region] == nil {
		return List{}, fmt.Errorf("no prices of region %q; there are %v", region, t.with(items))
	}
	for _, item := range items {
		if _, ok := t.Regions[region][item]; !ok {
			return List{}, fmt.Errorf("no price of %s in region %q; there are %v", item, region, t.with(items))
		}
	}
	return List{region, t.Date, t.Source, t.Regions[region]}, nil
}

// with returns the regions that have prices for all items, in the order of their names.
func (t *table) with(items []Item) []string {
	lacks := func(region string) bool {
		return slices.ContainsFunc(items, func(i Item) bool { _, ok := t.Regions[region][i]; return !ok })
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.Regions)), lacks)
}

// Of returns the price of an item. The item must be one of those passed to In.
func (l List) Of(item Item) float64 { return l.prices[item] }

// Month returns the month in which the prices were read, as YYYY-MM.
func (l List) Month() string { return l.Date[:len("2006-01")] }

// InDefault returns the prices of the default region.
func InDefault() List {
	l, err := In(Default, Items()...)
	if err != nil {
		panic(err) // the table is part of the program, and its tests read it
	}
	return l
}
