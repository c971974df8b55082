// Package importrows finds the rows of CSV imports that were not applied, in the objects that AggregateResults
// wrote to S3 for each import, and redrives them: the records, corrected or not, become a new file, which is
// imported like any other. It works both with the laptop's data directory and on AWS.
//
// The ID of a row's letter consists of its file's version and its line, so that a repeated import has the same
// letters. If a redriven row fails again, in the file that redrives it, it keeps its letter. The package never
// writes to the database.
package importrows
