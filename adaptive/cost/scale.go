package cost

import (
	"math"
	"time"

	"stepback/statemachine"
)

// Limits of AWS, November 2026, and what an import assumes about them.
const (
	historyEvents = 25_000 // of a STANDARD execution, by the quotas of Step Functions
	fileEvents    = 40     // for the states of a file, besides those of its parts
	// transitionsPerSecond is the rate of state transitions that Step Functions allows in the large regions (us-east-1,
	// us-west-2, eu-west-1), and fewTransitions that of the others.
	transitionsPerSecond = 5_000
	fewTransitions       = 800
	rangeTime            = 10 * time.Second // for ValidateRange of a part, as DefaultPartBytes says
	aggregateTime        = 10 * time.Second // for AggregateResults of a part, and the start of the next Map Run
	fileTime             = 5 * time.Second  // of a small file's import without its rows
)

// Scale describes what an import needs of the limits that could stop it.
type Scale struct {
	Files int64   `json:"files"`
	Bytes float64 `json:"bytes"` // of a file
	Parts float64 `json:"parts"` // of a file; 1 for one that is not cut
	// Validating, Applying and Between are estimates: of the time until the first row is applied, of the time that the
	// database takes for all rows, and of the time between parts, or of an import of many files between files, when no
	// rows are applied.
	Validating time.Duration `json:"validatingNanoseconds"`
	Applying   time.Duration `json:"applyingNanoseconds"`
	Between    time.Duration `json:"betweenNanoseconds"`
	// Transitions is the time that all state transitions take at the allowed rate, if nothing else limits them: in the
	// large regions, and in the others.
	Transitions, TransitionsElsewhere time.Duration
	Limits                            []Limit `json:"limits"`
}

// Limit is a limit and what the import needs of it.
type Limit struct {
	Name   string  `json:"name"`
	Needs  float64 `json:"needs"`
	Most   float64 `json:"most"`
	Unit   string  `json:"unit,omitempty"` // of both
	Advice string  `json:"advice"`         // what to do before the limit is reached
}

// Share returns how much of the limit the import needs; above 1 it fails.
func (l Limit) Share() float64 { return l.Needs / l.Most }

// Elapsed returns the estimated duration of the import.
func (s Scale) Elapsed() time.Duration { return s.Validating + s.Applying + s.Between }

// First returns the limit that the import reaches first.
func (s Scale) First() Limit {
	first := s.Limits[0]
	for _, l := range s.Limits[1:] {
		if l.Share() > first.Share() {
			first = l
		}
	}
	return first
}

// FilesAtOnce is the number of files that an import of many files imports concurrently.
func FilesAtOnce() int { return statemachine.FilesSubstitutions().Concurrency }

// Scale computes what the import of one file needs, or, if AsOne is set, that of many files of the same size. timeout
// is the time limit of the execution of a file, rangesAtOnce the number of ranges that are validated concurrently.
func (i Import) Scale(timeout time.Duration, rangesAtOnce int) Scale {
	if i.AsOne && i.Files > 1 {
		return i.scaleOfMany(timeout, rangesAtOnce)
	}
	u := i.Usage()
	s := Scale{Files: 1, Bytes: float64(i.Rows) * i.RowBytes, Parts: i.parts()}
	perSecond := float64(bulkPerSecond)
	if i.Shape != statemachine.Bulk {
		perSecond = rowsPerSecond
	}
	s.Validating = time.Duration(math.Ceil(s.Parts/float64(rangesAtOnce))) * rangeTime
	s.Applying = seconds(float64(i.Rows) / perSecond)
	s.Between = time.Duration(s.Parts) * aggregateTime
	s.Transitions, s.TransitionsElsewhere = seconds(u.Transitions/transitionsPerSecond),
		seconds(u.Transitions/fewTransitions)
	s.Limits = []Limit{
		{
			"duration of an execution",
			s.Elapsed().Hours(),
			timeout.Hours(),
			"h",
			"raise timeoutHours, or give Aurora more capacity: its rate determines the duration",
		},
		{
			"events in an execution's history",
			fileEvents + s.Parts*statemachine.PartEvents,
			historyEvents,
			"",
			"raise CSV_PART_BYTES",
		},
		{"parts of a file", s.Parts, statemachine.MaxParts, "", "larger files have larger parts, of up to 1 GiB"},
		{"bytes of a file", s.Bytes, float64(statemachine.MaxParts) * statemachine.MaxPartBytes, "", "split the file"},
	}
	return s
}

// scaleOfMany adds the needs of many files to those of one of them. Files share the database.
func (i Import) scaleOfMany(timeout time.Duration, rangesAtOnce int) Scale {
	one := i
	one.Files, one.AsOne = 1, false
	one.Rows = (i.Rows + i.Files - 1) / i.Files
	s := one.Scale(timeout, rangesAtOnce)
	s.Files = i.Files
	share := s.Bytes / statemachine.DefaultPartBytes
	each := fileTime + time.Duration(share*float64(rangeTime+aggregateTime))
	s.Between = time.Duration(float64(each) * float64(i.Files) / float64(FilesAtOnce()))
	s.Applying = time.Duration(float64(s.Applying) * float64(i.Rows) / float64(one.Rows))
	u := i.Usage()
	s.Transitions, s.TransitionsElsewhere = seconds(u.Transitions/transitionsPerSecond),
		seconds(u.Transitions/fewTransitions)
	s.Limits = append(s.Limits,
		Limit{"files of an import", float64(i.Files), statemachine.MaxFiles, "", "import them in several parts"},
		Limit{"duration of an import of many files", s.Elapsed().Hours(), statemachine.FilesTimeout.Hours(), "h",
			"import them in several parts"})
	return s
}

// parts returns the number of parts of a file; all files have the same size.
func (i Import) parts() float64 {
	bytes := float64(i.Rows) * i.RowBytes / float64(max(i.Files, 1))
	return min(max(math.Ceil(bytes/statemachine.DefaultPartBytes), 1), statemachine.MaxParts)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
