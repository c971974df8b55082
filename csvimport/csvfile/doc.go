// Package csvfile reads and checks a CSV file of user activity in one pass and constant memory, and writes the
// normalised copy that the distributed Map's ItemReader reads without surprises.
//
// It works on io.Reader and io.Writer only. It never opens an object, never keeps more than a few hundred kilobytes of
// a file however long the file or one of its lines is, and never drops a row: every row that is not a blank line comes
// out, with the problems it has.
package csvfile
