package retrypatterns

import "strings"

// ToleratedFailurePercentageExceeded is the error of an import of whose rows more were rejected or dead-lettered than
// are tolerated.
const ToleratedFailurePercentageExceeded = "ToleratedFailurePercentageExceeded"

// IsRefusal reports whether an import that ended with this error refused its file as a whole for what is in it or
// became of it: nothing is broken but the file, and its sender has to mend it.
func IsRefusal(name string) bool { return strings.HasPrefix(name, "CSV") || name == ValidationError }
