// Package importrows finds the rows of CSV imports that were not applied, in what AggregateResults left of each
// import in S3, and redrives them: the records, mended or not, become a file of their own, which the import takes like
// any other. It works on the laptop's data directory and on AWS alike.
//
// A row's letter is named by the version of its file and its line, so that an import that was repeated has the same
// letters. A row that dies again in the file that redrives it keeps its letter. The package never writes to the
// database.
package importrows
