package main

import "strings"

// nameIn returns the name at the end of an ARN.
func nameIn(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }
