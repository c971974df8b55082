// Package validate is the ValidateCSVFile step: it checks one uploaded file from end to end and says which object the
// distributed Map reads. That is never the upload, which somebody could replace at any moment, but a copy that this
// package makes of the version that it checked: byte for byte, or normalised where the Map could not read the original.
//
// It never changes the upload, and it never keeps a file in memory.
package validate
