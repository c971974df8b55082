package aggregate

import (
	"time"

	"stepback/csvimport"
	"stepback/retry"
)

// Input is the step's event.
type Input struct {
	Source    csvimport.Source `json:"source"`
	Execution string           `json:"execution"` // name of the execution
	Run       string           `json:"run"`       // the run with which the rows were applied
	Rows      int64            `json:"rows"`      // as ValidateCSVFile counted them
	Data      csvimport.Data   `json:"data"`      // the object that the ItemReader read
	Part      csvimport.Part   `json:"part"`      // the part of the file that Rows and Data are about
	Results   Place            `json:"results"`   // where the ResultWriter wrote its files
	Output    Place            `json:"output"`    // where the summary is written
	// ToleratedFailurePercentage is 0 to 100.
	ToleratedFailurePercentage float64   `json:"toleratedFailurePercentage"`
	StartTime                  string    `json:"startTime"` // start of the execution
	MapError                   *MapError `json:"mapError"`  // set if the Map as a whole failed
}

// Place is a bucket and a prefix in it.
type Place struct {
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix"`
}

// Object returns the location of an object with the prefix.
func (p Place) Object(name string) csvimport.Location {
	return csvimport.Location{Bucket: p.Bucket, Key: csvimport.JoinKey(p.Prefix, name)}
}

// MapError is the error output of the Map state.
type MapError struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// Output is the step's result; the summary object has the same members.
type Output struct {
	Source         csvimport.Source `json:"source"`
	Execution      string           `json:"execution"`
	StartTime      string           `json:"startTime,omitempty"`
	EndTime        time.Time        `json:"endTime"`
	Rows           int64            `json:"rows"`
	Applied        int64            `json:"applied"`
	AlreadyApplied int64            `json:"alreadyApplied"`
	Rejected       int64            `json:"rejected"`
	DeadLettered   int64            `json:"deadLettered"`
	// NotStarted counts the rows of parts that were not applied because the Map failed in a part before them. They stay
	// open: another execution for the same version of the file applies them.
	NotStarted int64 `json:"notStarted,omitempty"`
	// of applied: rows that failed according to the results, but are counted in the database
	SettledAsApplied           int64            `json:"settledAsApplied"`
	FailedPercentage           float64          `json:"failedPercentage"` // 100 × (rejected + deadLettered) / rows
	ToleratedFailurePercentage float64          `json:"toleratedFailurePercentage"`
	WithinTolerance            bool             `json:"withinTolerance"` // failedPercentage ≤ tolerated, and no mapError
	MapError                   *MapError        `json:"mapError,omitempty"`
	Errors                     map[string]int64 `json:"errors"` // rejected and dead-lettered rows by error name
	// BatchErrors counts the errors because of which batches left rows to be processed one by one. The outcomes of
	// these rows are included in the four counts.
	BatchErrors map[string]int64 `json:"batchErrors,omitempty"`
	// Retried counts the rows that were retried, by the error of the previous attempt, as far as the results show
	// it. These are rows that a batch left to be processed one by one, and rows that failed after more than one
	// attempt. Rows of a batch that failed as a whole are counted under BatchFailed. Recovered counts the retried
	// rows that were finally applied.
	Retried   map[string]int64 `json:"retried,omitempty"`
	Recovered int64            `json:"recovered"`
	// LeftOut are the rows of the file that were not imported, because their dead letters were not dead any more. They
	// are not included in any count above.
	LeftOut *csvimport.LeftOut `json:"leftOut,omitempty"`
	// Letters repeats the Letters of Data. It is empty in summaries of earlier versions.
	Letters     string             `json:"letters,omitempty"`
	Summary     csvimport.Location `json:"summary"`
	DeadLetters csvimport.Location `json:"deadLetters"`
	Corrections csvimport.Location `json:"corrections"`
	// Next is the part of the file to be applied next. If it is set, the counts are those of the part that was applied.
	Next *Next `json:"next,omitempty"`
	// Last holds the counts of the last part, if Output is about a file that was applied in parts. It is not written.
	Last *Output `json:"-"`
}

// Next is the part of a file to be applied next, as the state machine stores it.
type Next struct {
	Report struct {
		Rows int64          `json:"rows"`
		Data csvimport.Data `json:"data"`
		Part csvimport.Part `json:"part"`
	} `json:"report"`
	Results Place `json:"results"` // where the ResultWriter writes the part's files
}

// Counted returns the counts of the rows that this invocation accounted for.
func (o Output) Counted() Output {
	if o.Last != nil {
		return *o.Last
	}
	return o
}

// maxRows limits the number of rows, because each takes half a byte of memory. It is far more than any accepted
// file has.
const maxRows = 1 << 32

func (in Input) check() error {
	if err := in.Source.Check(); err != nil {
		return err
	}
	switch {
	case in.Rows < 0 || in.Rows > maxRows:
		return csvimport.Fail(retry.InvalidInput,
			"rows is %d; it is the number of rows ValidateCSVFile counted, at most %d", in.Rows, int64(maxRows))
	case in.Results.Bucket == "":
		return csvimport.Fail(retry.InvalidInput,
			"the event lacks results.bucket, where the Map's ResultWriter wrote")
	case in.Output.Bucket == "":
		return csvimport.Fail(retry.InvalidInput, "the event lacks output.bucket, where the summary goes")
	case in.Data.Bucket == "" || in.Data.Key == "":
		return csvimport.Fail(retry.InvalidInput,
			"the event lacks data.bucket or data.key, the object the Map read")
	case in.ToleratedFailurePercentage < 0 || in.ToleratedFailurePercentage > 100:
		return csvimport.Fail(retry.InvalidInput, "toleratedFailurePercentage is %v; it lies between 0 and 100",
			in.ToleratedFailurePercentage)
	}
	return nil
}
