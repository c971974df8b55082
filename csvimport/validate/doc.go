// Package validate is the ValidateCSVFile step: it checks one uploaded file from end to end and says which object the
// distributed Map reads, the upload itself or a normalised copy that this package writes.
//
// It never changes the upload, and it never keeps a file in memory.
package validate
