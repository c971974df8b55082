package validate

import (
	"path"
	"strings"
)

// ExecutionName returns the name of the execution that checks the file. It is the last part of WorkPrefix.
func (in Input) ExecutionName() string {
	if in.WorkPrefix == "" {
		return ""
	}
	return path.Base(strings.TrimSuffix(in.WorkPrefix, "/"))
}
