package worth

import (
	"fmt"
	"time"

	"stepback/aws/prices"
)

// Architecture is a function's instruction set, in Lambda's spelling.
type Architecture string

// The architectures of Lambda.
const (
	X86 Architecture = "x86_64"
	Arm Architecture = "arm64"
)

// Prices are AWS's prices in one region, in USD, without free tiers.
type Prices struct {
	// Region is the region. Date is when the prices were read (YYYY-MM-DD). Source is where they were read.
	Region, Date, Source string
	// Transition is the price of one state transition of a STANDARD state machine; a retry is one transition.
	Transition float64
	// Operation is the price of one operation of a durable function; a retry of a step is one. It is the price of
	// us-east-1 in every region.
	Operation float64
	// Request is the price of one invocation of a function.
	Request float64
	// GBSecond is the price of one second of a function with 1,024 MB.
	GBSecond map[Architecture]float64
}

// PricesOf returns the prices of a region. If the table does not contain the region, the error lists those it
// contains.
func PricesOf(region string) (Prices, error) {
	l, err := prices.In(region, prices.StateTransitions, prices.LambdaRequests, prices.LambdaGBSecondX86,
		prices.LambdaGBSecondArm)
	if err != nil {
		return Prices{}, fmt.Errorf("worth: %w", err)
	}
	return Prices{
		Region: region, Date: l.Date, Source: l.Source, Transition: l.Of(prices.StateTransitions) / 1000,
		Operation: prices.InDefault().Of(prices.DurableOperations) / 1e6,
		Request:   l.Of(prices.LambdaRequests) / 1e6,
		GBSecond:  map[Architecture]float64{X86: l.Of(prices.LambdaGBSecondX86), Arm: l.Of(prices.LambdaGBSecondArm)},
	}, nil
}

// Attempt describes one more attempt of a task, as far as it affects the cost.
type Attempt struct {
	// Step is true for an attempt of a step of a durable function, which costs an operation instead of a transition.
	Step bool
	// MemoryMB is the function's memory; 0 for a task that is not a function.
	MemoryMB int
	// Architecture is the function's architecture; empty means x86_64.
	Architecture Architecture
	// Duration is the function's running time; billed by the millisecond, rounded up.
	Duration time.Duration
	// Wait is the mean time that the retry waits before the attempt.
	Wait time.Duration
	// DelayPerHour is the cost of an hour of delay to the business, in USD.
	DelayPerHour float64
	// Load is the cost of one more call to a callee without spare capacity, in USD; 0 while it has some.
	Load float64
}

// Cost is the cost of an attempt in USD, by item.
type Cost struct {
	// Transition is the price of a state transition or, for a step of a durable function, of an operation.
	Transition, Request, Compute, Delay, Load float64
}

// Total returns the sum of all items.
func (c Cost) Total() float64 { return c.Transition + c.Request + c.Compute + c.Delay + c.Load }

// Cost returns the cost of an attempt at these prices. Negative sizes and times count as 0.
func (p Prices) Cost(a Attempt) Cost {
	c := Cost{Transition: p.Transition, Load: max(a.Load, 0)}
	if a.Step {
		c.Transition = p.Operation
	}
	if a.MemoryMB > 0 {
		architecture := a.Architecture
		if architecture == "" {
			architecture = X86
		}
		billed := max(a.Duration, 0) + time.Millisecond - 1
		billed -= billed % time.Millisecond
		c.Request = p.Request
		c.Compute = p.GBSecond[architecture] * billed.Seconds() * float64(a.MemoryMB) / 1024
	}
	c.Delay = max(a.DelayPerHour, 0) * (max(a.Wait, 0) + max(a.Duration, 0)).Hours()
	return c
}
