package csvfile

import (
	"io"
	"slices"

	"stepback/csvimport"
)

// MaxProblems is the maximum number of problems that a report lists. The report counts all of them.
const MaxProblems = 100

// Report is the result of checking a file.
type Report struct {
	Format
	Rows     int64
	Regular  bool                // the file can be read as it is, without a normalised copy
	BadRows  int64               // rows with at least one problem
	Count    int64               // problems in all rows
	Problems []csvimport.Problem // the first MaxProblems
	Lettered bool                // the file has a column letter
	Letters  []RowLetter         // the rows that came out of dead letters
}

// RowLetter is a row that came out of a dead letter.
type RowLetter struct {
	Row    int64  // Index of the row
	Line   int64  // line of the row in the file, from 1
	Letter string // ID of the letter
}

// Check reads a file to its end.
func Check(r *Reader) (Report, error) {
	report := Report{Format: r.Format(), Lettered: r.header.lettered}
	for {
		row, err := r.Next()
		if err == io.EOF {
			report.Regular = r.Regular()
			return report, nil
		}
		if err != nil {
			return report, err
		}
		report.Rows++
		if row.Letter != "" {
			report.Letters = append(report.Letters, RowLetter{row.Index, row.Line, row.Letter})
		}
		if len(row.Problems) == 0 {
			continue
		}
		report.BadRows++
		report.Count += int64(len(row.Problems))
		if room := MaxProblems - len(report.Problems); room > 0 {
			report.Problems = append(report.Problems, slices.Clone(row.Problems[:min(room, len(row.Problems))])...)
		}
	}
}
