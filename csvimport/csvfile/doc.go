// Package csvfile reads and checks a CSV file of user activity in one pass and constant memory, and writes the
// normalised copy, which the distributed Map's ItemReader reads unambiguously.
//
// It works on io.Reader and io.Writer only. It never opens an object, never holds more than a few hundred kilobytes
// of a file, however long the file or one of its lines is, and never drops a row: it returns every row that is not a
// blank line, with its problems.
package csvfile
