// Package validate implements the ValidateCSVFile step. It checks an uploaded file from end to end, and returns the
// object that the distributed Map reads. That object is never the upload, which could be replaced at any moment. It
// is a copy of the checked version: byte for byte, or normalised if the Map could not read the original.
//
// It never modifies the upload, and never holds a file in memory.
package validate
