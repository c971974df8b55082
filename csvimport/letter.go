package csvimport

import (
	"strconv"

	"stepback/internal/objectevent"
)

// LetterPrefix is the beginning of the IDs of rows' dead letters.
const LetterPrefix = "row:"

// Letters returns the beginning of the IDs of the dead letters of a file's rows.
func Letters(file Source) string {
	return LetterPrefix + objectevent.ExecutionName(file.Bucket, file.Key, file.ETag)
}

// EarlierLetters returns the beginning of the IDs in imports of earlier versions, in which equal files of two buckets
// have the same letters. A file that such a version has imported keeps these IDs, because operators may have acted on
// its letters.
func EarlierLetters(file Source) string {
	return LetterPrefix + objectevent.EarlierExecutionName(file.Key, file.ETag)
}

// LetterID returns the ID of the dead letter for a line of a file, counted from 1. letters is the result of Letters or
// EarlierLetters. A repeated import of the same version of the file has the same letters. A row of a corrections file,
// or of a file that redrives letters, keeps the ID that the file's column letter gives it.
func LetterID(letters string, line int64) string { return letters + ":" + strconv.FormatInt(line, 10) }

// Data is the object that the Map reads.
type Data struct {
	Location
	LeftOut *LeftOut `json:"leftOut,omitempty"` // nil if the object has every row of the file
	// Letters is the beginning of the IDs of the rows' dead letters. If it is empty, it is that of EarlierLetters: a
	// function of an earlier version has validated the file.
	Letters string `json:"letters,omitempty"`
}

// LeftOut describes the rows of a file that an import does not process, because their dead letters are not dead any
// more: they were redriven, discarded or imported before.
type LeftOut struct {
	Count int64        `json:"count"`
	Rows  []LeftOutRow `json:"rows"` // the first MaxLeftOutRows
}

// MaxLeftOutRows is the maximum number of rows that a LeftOut lists.
const MaxLeftOutRows = 100

// LeftOutRow is a row that an import does not process.
type LeftOutRow struct {
	Line   int64  `json:"line"` // line in the imported file, from 1
	Letter string `json:"letter"`
	Why    string `json:"why"`
}
