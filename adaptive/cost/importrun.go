package cost

import (
	"math"

	"stepback/statemachine"
)

// Import is an import of files. Its shares are of what is begun: 0.01 is one in a hundred.
type Import struct {
	Files, Rows int64 // rows of all files together
	Shape       statemachine.Shape
	BatchSize   int
	// Express has the child executions be EXPRESS ones.
	Express bool
	// FailingRows is the share of rows whose first attempt fails, Retries how many attempts each of them takes more
	// before it ends, at least 1 when there are such rows.
	FailingRows, Retries float64
	// FailingBatches is the share of a batch's invocations that fail and are made again; in bulk only.
	FailingBatches float64
	// RefusedRows and RefusedBatches are how many of the attempts, for each row and for each batch, Lambda itself
	// refuses (Lambda.TooManyRequestsException). They are transitions, but no invocations: Lambda does not charge for
	// them.
	RefusedRows, RefusedBatches float64
	// MemoryMB is the size of the function that applies rows.
	MemoryMB int
	// Capacity is how many Aurora capacity units all instances together have while the import runs.
	Capacity float64
	// KeptDays is how long the Map's result files are kept.
	KeptDays float64
}

// What is assumed of an import. Nothing of it was measured on AWS. The sizes of results and of the log of a row in
// a batch are those of a million rows imported into PostgreSQL on one machine (bench/RESULTS.md); times and rates
// are meant to be on the careful side.
const (
	rowSeconds       = 0.010  // the invocation for a row
	batchSeconds     = 0.010  // the invocation for a batch, beside its rows
	batchRowSeconds  = 0.0002 // a row of it
	rowWrites        = 3      // Aurora's write requests for a row by itself: its key, its counter, the log
	batchRowLogBytes = 200    // of PostgreSQL's log for a row in a batch
	writeBytes       = 4096   // of log in one of Aurora's write requests
	rowsPerSecond    = 5_000  // by themselves: Step Functions' rate of transitions in a large region bounds it
	bulkPerSecond    = 10_000 // in bulk: the database bounds it
	tracedShare      = 0.05   // of invocations, by X-Ray's default rule, beside the first of each second
	rowResultBytes   = 400    // of a row by itself in the Map's result files, with the input of its execution
	batchResultBytes = 8      // of a row in the output of a batch: its number
	bulkResultBytes  = 1      // of a row in bulk, a stretch of which is two numbers
	fileTransitions  = 10
	expressGB        = 0.0625 // of an EXPRESS child, the smallest step
	expressSeconds   = 0.05   // of an EXPRESS child beside its invocations
	retryWait        = 2.0    // seconds, of a retry, which an EXPRESS child pays for
	mebibytesPerGB   = 1024
	bytesPerGB       = 1e9
	secondsPerHour   = 3600
	daysPerMonth     = 30
	million          = 1e6
	thousand         = 1e3
)

// Usage is what an import uses of AWS.
type Usage struct {
	Children                        float64 // child executions
	Transitions                     float64 // of STANDARD executions
	ExpressRequests, ExpressSeconds float64 // executions, and GB-seconds of them
	Invocations, GBSeconds          float64
	Writes, CapacityHours           float64
	Traces, KeptGBMonths            float64
}

// Usage computes what the import uses.
func (i Import) Usage() Usage {
	rows := float64(i.Rows)
	failing := rows * i.FailingRows
	retries := failing * i.Retries
	memory := float64(i.MemoryMB) / mebibytesPerGB
	u := Usage{Children: math.Ceil(rows / float64(max(i.BatchSize, 1)))}
	var inChildren, seconds, hours, resultBytes float64
	switch i.Shape {
	case statemachine.Bulk:
		alone := failing + retries // a row that its batch leaves begins anew
		inChildren = 2*u.Children + u.Children + u.Children*i.FailingBatches + alone
		begun := 1 + i.FailingBatches - i.RefusedBatches // of the invocations for a batch
		batches := u.Children * begun
		alone -= rows * i.RefusedRows
		u.Invocations = batches + alone
		seconds = batches*batchSeconds + rows*begun*batchRowSeconds + alone*rowSeconds
		u.Writes = math.Ceil(rows*batchRowLogBytes/writeBytes) + batches + alone*rowWrites
		hours, resultBytes = (rows/bulkPerSecond+alone/rowsPerSecond)/secondsPerHour, bulkResultBytes
	case statemachine.Single:
		u.Children = rows
		fallthrough
	default:
		u.Invocations = rows + retries - rows*i.RefusedRows
		inChildren = u.Children + rows + retries
		if i.Shape == statemachine.Batch && i.BatchSize > 1 {
			inChildren += u.Children // the inner Map
		}
		seconds = u.Invocations * rowSeconds
		u.Writes = rows * rowWrites
		hours, resultBytes = rows/rowsPerSecond/secondsPerHour, rowResultBytes
		if i.Shape == statemachine.Batch && i.BatchSize > 1 {
			resultBytes = batchResultBytes
		}
	}
	u.Transitions = fileTransitions * float64(max(i.Files, 1))
	if i.Express {
		u.ExpressRequests = u.Children
		each := expressSeconds + (seconds+retries*retryWait)/max(u.Children, 1)
		u.ExpressSeconds = expressGB * u.Children * billed(each)
	} else {
		u.Transitions += inChildren
	}
	u.GBSeconds = seconds * memory
	u.CapacityHours = hours * i.Capacity
	u.Traces = u.Invocations * tracedShare
	u.KeptGBMonths = rows * resultBytes / bytesPerGB * i.KeptDays / daysPerMonth
	return u
}

// Items are the costs of the import by part.
func (i Import) Items(p Prices) []Item {
	u := i.Usage()
	items := []Item{{"Step Functions, transitions", u.Transitions, "", u.Transitions / thousand * p.Transitions}}
	if i.Express {
		items = append(items,
			Item{"Step Functions, EXPRESS executions", u.ExpressRequests, "",
				u.ExpressRequests / million * p.ExpressRequests},
			Item{"Step Functions, EXPRESS duration", u.ExpressSeconds, "GB-seconds",
				u.ExpressSeconds * p.ExpressGBSecond})
	}
	return append(items,
		Item{"Lambda, invocations", u.Invocations, "", u.Invocations / million * p.Invocations},
		Item{"Lambda, compute", u.GBSeconds, "GB-seconds", u.GBSeconds * p.GBSecond},
		Item{"Aurora, capacity meanwhile", u.CapacityHours, "unit hours", u.CapacityHours * p.CapacityHour},
		Item{"Aurora, writes", u.Writes, "requests", u.Writes / million * p.IORequests},
		Item{"X-Ray, traces", u.Traces, "", u.Traces / million * p.Traces},
		Item{"S3, result files", u.KeptGBMonths, "GB-months", u.KeptGBMonths * p.StorageGBMonth},
	)
}
