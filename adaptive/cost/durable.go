package cost

import "stepback/engine/durable"

// DurableItems returns the cost of n executions of a durable function that each use as much as u, in functions with a
// memory of memoryMB megabytes. The service keeps what an execution has written while it runs and retention days
// longer.
func DurableItems(u durable.Usage, n float64, memoryMB int, retention float64, p Prices) []Item {
	const day = 24 * 60 * 60 // seconds
	first, retries := float64(u.Operations-u.Retries)*n, float64(u.Retries)*n
	written := float64(u.Written) * n / bytesPerGB
	kept := written * (u.Lasted.Seconds()/day + retention) / daysPerMonth
	invocations := float64(u.Invocations) * n
	compute := u.Compute.Seconds() * n * float64(memoryMB) / mebibytesPerGB
	return []Item{
		{"Lambda, durable operations", first, "", first / million * p.DurableOperations},
		{"Lambda, retries of steps", retries, "", retries / million * p.DurableOperations},
		{"Lambda, durable data written", written, "GB", written * p.DurableGB},
		{"Lambda, durable data kept", kept, "GB-months", kept * p.DurableGBMonth},
		{"Lambda, invocations", invocations, "", invocations / million * p.Invocations},
		{"Lambda, compute", compute, "GB-seconds", compute * p.GBSecond},
	}
}
