package retrypatterns

import "strings"

// ToleratedFailurePercentageExceeded is the error of an import in which more rows were rejected or dead-lettered than
// are tolerated.
const ToleratedFailurePercentageExceeded = "ToleratedFailurePercentageExceeded"

// IsRefusal reports whether an import that ended with this error refused its whole file because of its content or
// because it changed: only the file is at fault, and its sender has to fix it.
func IsRefusal(name string) bool { return strings.HasPrefix(name, "CSV") || name == ValidationError }
