package lambda

import (
	"regexp"
	"strings"

	"stepback/aws/server"
)

// words lists the limits in which Lambda differs from its API model. Some are narrower; some are wider, because new
// runtimes appear without a new model.
var words = server.Words{
	Max:       map[string]float64{"Timeout": 900, "MemorySize": 10240},
	Patterns:  map[string]*regexp.Regexp{"Alias": regexp.MustCompile(`^[0-9]*[a-zA-Z_-][a-zA-Z0-9_-]*$`)},
	Unchecked: []string{"Runtime"},
	Pattern: func(p string) string { // with the regions of the European Sovereign Cloud
		return strings.ReplaceAll(p, "[a-z]{2}((-gov)|", "(eusc-)?[a-z]{2}((-gov)|")
	},
}
