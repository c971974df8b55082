package cost

import (
	"math"

	"stepback/statemachine"
)

// Import describes an import of files. Its shares are fractions: 0.01 is one in a hundred.
type Import struct {
	Files, Rows int64 // rows of all files together
	// AsOne is true if one import of many files starts those of the files.
	AsOne bool
	// RowBytes is the average length of a row, with its line end. It determines the number of parts of a large file; 0
	// means that no file is large.
	RowBytes  float64
	Shape     statemachine.Shape
	BatchSize int
	// Express is true if the child executions are EXPRESS ones.
	Express bool
	// FailingRows is the share of rows whose first attempt fails. Retries is the number of further attempts that
	// each of these rows takes until it ends; it is at least 1 if FailingRows is above 0.
	FailingRows, Retries float64
	// FailingBatches is the share of batch invocations that fail and are repeated; bulk shape only.
	FailingBatches float64
	// RefusedRows is the number of attempts per row that Lambda itself refuses (Lambda.TooManyRequestsException),
	// and RefusedBatches the number per batch. They count as transitions but not as invocations, because Lambda
	// does not charge for them.
	RefusedRows, RefusedBatches float64
	// MemoryMB is the memory size of the function that applies rows.
	MemoryMB int
	// Capacity is the number of Aurora capacity units of all instances together during the import.
	Capacity float64
	// KeptDays is the number of days for which the Map's result files are kept.
	KeptDays float64
}

// These are assumptions about an import. None of them was measured on AWS. The sizes of results and of the log of a
// row in a batch were measured on a million rows imported into PostgreSQL on one machine (bench/RESULTS.md); times
// and rates are meant to be conservative.
const (
	rowSeconds       = 0.010  // invocation for a single row
	batchSeconds     = 0.010  // invocation for a batch, without its rows
	batchRowSeconds  = 0.0002 // each row of a batch
	rowWrites        = 3      // Aurora write requests for a single row: its key, its counter, the log
	batchRowLogBytes = 200    // PostgreSQL log for a row in a batch
	writeBytes       = 4096   // log bytes in one Aurora write request
	rowsPerSecond    = 5_000  // single rows: limited by Step Functions' transition rate in a large region
	bulkPerSecond    = 10_000 // in bulk: limited by the database
	tracedShare      = 0.05   // of invocations, by X-Ray's default rule, besides the first of each second
	rowResultBytes   = 400    // a single row in the Map's result files, with its execution's input
	batchResultBytes = 8      // a row in the output of a batch: its number
	bulkResultBytes  = 1      // a row in bulk, where a range of rows is two numbers
	fileTransitions  = 10
	listSeconds      = 1      // ListFiles or SumFiles, without its files
	listFileSeconds  = 0.001  // each file: 32 requests to S3 at a time
	listGB           = 1      // memory of their function
	expressGB        = 0.0625 // memory of an EXPRESS child, the smallest step
	expressSeconds   = 0.05   // an EXPRESS child without its invocations
	retryWait        = 2.0    // wait in seconds before a retry, which an EXPRESS child pays for
	mebibytesPerGB   = 1024
	bytesPerGB       = 1e9
	secondsPerHour   = 3600
	daysPerMonth     = 30
	million          = 1e6
	thousand         = 1e3
)

// Usage holds what an import uses on AWS.
type Usage struct {
	Children                        float64 // child executions
	Transitions                     float64 // of STANDARD executions
	ExpressRequests, ExpressSeconds float64 // executions, and their GB-seconds
	Invocations, GBSeconds          float64
	Writes, CapacityHours           float64
	Traces, KeptGBMonths            float64
}

// Usage computes the usage of the import.
func (i Import) Usage() Usage {
	rows := float64(i.Rows)
	failing := rows * i.FailingRows
	retries := failing * i.Retries
	memory := float64(i.MemoryMB) / mebibytesPerGB
	u := Usage{Children: math.Ceil(rows / float64(max(i.BatchSize, 1)))}
	var inChildren, seconds, hours, resultBytes float64
	switch i.Shape {
	case statemachine.Bulk:
		alone := failing + retries // a row that failed in its batch starts afresh on its own
		inChildren = 2*u.Children + u.Children + u.Children*i.FailingBatches + alone
		begun := 1 + i.FailingBatches - i.RefusedBatches // invocations per batch
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
	if parts := i.parts(); parts > 1 {
		u.Transitions += statemachine.PartTransitions * parts * float64(max(i.Files, 1))
	}
	if i.AsOne {
		u.Transitions += statemachine.FilesTransitions + statemachine.FileTransitions*float64(i.Files)
		u.Invocations += 2
		u.GBSeconds += 2 * listGB * (listSeconds + listFileSeconds*float64(i.Files))
	}
	if i.Express {
		u.ExpressRequests = u.Children
		each := expressSeconds + (seconds+retries*retryWait)/max(u.Children, 1)
		u.ExpressSeconds = expressGB * u.Children * billed(each)
	} else {
		u.Transitions += inChildren
	}
	u.GBSeconds += seconds * memory
	u.CapacityHours = hours * i.Capacity
	u.Traces = u.Invocations * tracedShare
	u.KeptGBMonths = rows * resultBytes / bytesPerGB * i.KeptDays / daysPerMonth
	return u
}

// Items returns the costs of the import by item.
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
