package invocation

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"stepback/aws"
)

// Latest is the unpublished version of a function.
const Latest = "$LATEST"

// Name is a parsed function name. Account and Region are set if the name is an ARN. Account is also set if the name
// has the form ACCOUNT:function:NAME.
type Name struct{ Account, Region, Function, Qualifier string }

// nameForm returns the pattern for function names in Lambda's model.
var nameForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:arn:aws[a-zA-Z-]*:lambda:(?:([a-z0-9-]+):)?)?(?:(\d{12}):)?(?:function:)?([A-Za-z0-9_-]+)(?::(\$LATEST|[A-Za-z0-9_-]+))?$`)
})

// ParseName parses NAME, ACCOUNT:function:NAME and arn:aws:lambda:REGION:ACCOUNT:function:NAME, each with or without
// :QUALIFIER. The error is an *aws.Error with the code InvalidParameterValueException.
func ParseName(name, qualifier string) (Name, error) {
	n := Name{Function: name, Qualifier: qualifier}
	if IsName(name) { // avoids the regular expression for the usual form
		return n, nil
	}
	parts := nameForm().FindStringSubmatch(name)
	if parts == nil || strings.HasPrefix(name, "arn:") && !strings.Contains(name, ":function:") {
		return Name{}, invalid(fmt.Sprintf("%q is not a function name or ARN", name))
	}
	n.Region, n.Account, n.Function = parts[1], parts[2], parts[3]
	if inName := parts[4]; inName != "" {
		if qualifier != "" && qualifier != inName {
			return Name{}, invalid("The derived qualifier from the function name does not match the specified qualifier.")
		}
		n.Qualifier = inName
	}
	return n, nil
}

func invalid(message string) *aws.Error {
	return &aws.Error{Code: "InvalidParameterValueException", Message: message, Status: http.StatusBadRequest}
}

const maxName = 64

// IsName reports whether s is a valid bare function name: 1 to 64 characters of A-Z a-z 0-9 - and _.
func IsName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}
