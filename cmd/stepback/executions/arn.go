package executions

import "strings"

// NameIn returns the name at the end of an ARN.
func NameIn(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }
