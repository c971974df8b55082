package stepfunctions

import (
	"regexp"
)

// The limits of the service's model, in characters.
const (
	maxARN         = 256
	maxLongARN     = 2000
	maxName        = 80
	maxData        = 262_144
	maxDefinition  = 1_048_576
	maxDescription = 256
	maxPage        = 1000
	maxToken       = 1024
	maxListToken   = 3096
	maxError       = 256
	maxCause       = 32_768
	maxTags        = 50
)

var (
	ascii        = regexp.MustCompile(`^[\x00-\x7f]*$`)
	aliasPattern = regexp.MustCompile(`^[a-zA-Z0-9_\-.]*[a-zA-Z_\-.][a-zA-Z0-9_\-.]*$`)
)
