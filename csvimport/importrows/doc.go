// Package importrows finds the rows of CSV imports that were not applied, in the objects that AggregateResults wrote
// to S3 for each import, and redrives them: the records, fixed or not, become a new file, which is imported like any
// other. It works with the laptop's data directory and on AWS alike.
//
// A row's letter is named by the version of its file and its line, so that a repeated import has the same letters. A
// row that fails again in the file that redrives it keeps its letter. The package never writes to the database.
package importrows
