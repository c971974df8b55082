package statemachine

import (
	"slices"
	"strings"

	"stepback/retry"
)

// Error names with which the import's functions fail and which retries cannot fix. See [PermanentErrors].
const (
	CSVFileNotFound        = "CSVFileNotFound"        // the object or its bucket does not exist
	CSVKeyIsDirectory      = "CSVKeyIsDirectory"      // the key names a folder placeholder
	CSVFileEmpty           = "CSVFileEmpty"           // the file is empty
	CSVFileTooLarge        = "CSVFileTooLarge"        // above the configured size limit
	CSVFileBinary          = "CSVFileBinary"          // NUL bytes or another sign of a binary file
	CSVEncodingUnsupported = "CSVEncodingUnsupported" // neither UTF-8 nor Shift_JIS
	CSVHeaderInvalid       = "CSVHeaderInvalid"       // required columns missing, repeated or unknown
	CSVFileChanged         = "CSVFileChanged"         // the object's ETag differs from the event's

	AggregateMismatch = "AggregateMismatch" // the outcomes do not add up to the file's rows
)

// ToleratedFailurePercentageExceeded is the error of an import in which more rows were rejected or dead-lettered than
// are tolerated.
const ToleratedFailurePercentageExceeded = "ToleratedFailurePercentageExceeded"

// PermanentErrors returns the names of errors that are never retried: the import's own and those of
// [retry.PermanentErrors], in the order in which the Retry arrays list them. All states share this list. A name
// that a state cannot raise does no harm there, and no state can be forgotten when a name is added. The slice
// belongs to the caller.
func PermanentErrors() []string {
	names := []string{
		CSVFileNotFound, CSVKeyIsDirectory, CSVFileEmpty, CSVFileTooLarge, CSVFileBinary,
		CSVEncodingUnsupported, CSVHeaderInvalid, CSVFileChanged,
	}
	for _, name := range retry.PermanentErrors() {
		names = append(names, name)
		if name == retry.AccessDenied {
			names = append(names, AggregateMismatch)
		}
	}
	return names
}

// IsPermanent reports whether the name is one of [PermanentErrors].
func IsPermanent(name string) bool { return slices.Contains(PermanentErrors(), name) }

// IsRefusal reports whether an import that ended with this error refused its whole file because of its content or
// because it changed: only the file is at fault, and its sender has to fix it.
func IsRefusal(name string) bool {
	return strings.HasPrefix(name, "CSV") || name == retry.ValidationError
}

// BlamesInput reports whether an execution that failed with this error, of the import or of many imports as one, failed
// because of its input: its file was refused, too many rows of the file could not be applied, or the same is true of
// its list of files or of files in the list.
func BlamesInput(name string) bool {
	switch name {
	case ToleratedFailurePercentageExceeded, FilesRejected, FilesFailed:
		return true
	}
	return IsRefusal(name)
}
